// PieceReader reads a file from front to back in large reads, and shows ranges of any size. The
// buffer belongs to the caller, who reuses it for file after file. One thread at a time. Failures:
// kCorrupt (the file ends before the range does), kResource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::verify {

class PieceReader {
 public:
  PieceReader(const RandomAccessFile& file, std::string name, std::vector<std::byte>& buffer)
      : file_(file), name_(std::move(name)), buffer_(buffer) {}

  // Returns the bytes [offset, offset + size), valid until the next call. Cheap where offsets
  // ascend from call to call. Grows the buffer for a longer range; the caller has bounded the
  // size.
  [[nodiscard]] Result<std::span<const std::byte>> view(std::uint64_t offset_bytes,
                                                        std::size_t size_bytes);

 private:
  [[nodiscard]] bool holds(std::uint64_t offset_bytes, std::size_t size_bytes) const noexcept;
  void keep_from(std::uint64_t offset_bytes);
  [[nodiscard]] Status fill(std::size_t target_bytes);

  const RandomAccessFile& file_;
  std::string name_;
  std::vector<std::byte>& buffer_;
  std::uint64_t begin_ = 0;  // offset in the file of the held bytes
  std::size_t held_bytes_ = 0;
};

}  // namespace xtts::verify
