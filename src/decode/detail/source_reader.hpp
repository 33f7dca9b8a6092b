// SourceReader: lets libav read a RandomAccessFile. No name and no protocol ever reaches libav, so
// nothing in a file can make it open another file.
//
// The first failure of read_at is kept, and every later read fails too. libav takes many failed
// reads for the end of the file, so the caller must check failure() before it trusts any outcome.
// Borrows the file; one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/env.hpp"
#include "decode/detail/libav.hpp"
#include "xtts/status.hpp"

namespace xtts::decode::detail {

class SourceReader {
 public:
  explicit SourceReader(const RandomAccessFile& file);
  SourceReader(const SourceReader&) = delete;
  SourceReader& operator=(const SourceReader&) = delete;

  // Null if memory was refused.
  [[nodiscard]] AVIOContext* io() const noexcept { return io_.get(); }
  // The first bytes of the file, always kHeadBytes of them: zeros where there are no more.
  [[nodiscard]] std::string_view head() const noexcept { return {head_.data(), head_.size()}; }
  // Reads beside libav: up to `count` bytes, fewer at the file's end. The first failure is kept as
  // well.
  [[nodiscard]] std::string at(std::uint64_t offset_bytes, std::size_t count);
  [[nodiscard]] std::uint64_t size_bytes() const { return file_.size_bytes(); }
  [[nodiscard]] const Status& failure() const noexcept { return failure_; }

 private:
  static int read_callback(void* self, std::uint8_t* out, int size) noexcept;
  static std::int64_t seek_callback(void* self, std::int64_t offset, int whence) noexcept;
  [[nodiscard]] int read(std::span<std::byte> out);

  static constexpr std::size_t kHeadBytes = 12;

  const RandomAccessFile& file_;
  std::array<char, kHeadBytes> head_{};
  std::uint64_t position_bytes_ = 0;
  std::uint64_t budget_bytes_;  // still allowed to read: stops a demuxer that seeks in circles
  Status failure_;
  IoContextPtr io_;
};

}  // namespace xtts::decode::detail
