// Adapts our files for Arrow's library, and provides memory that stands for a part of a file
// without reading it. Views of the files, which must outlive them. One thread at a time.
#pragma once

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/env.hpp"

namespace xtts::corpus {

// Reads all `size_bytes` from `offset_bytes`. A failure continues a sentence that begins with the
// file.
[[nodiscard]] Status read_exactly(const RandomAccessFile& file, std::uint64_t offset_bytes,
                                  void* out, std::size_t size_bytes);

// UnreadBytes is zeros until filled; it takes no memory while nobody writes to it. Arrow's library
// lays out the columns of a batch over it without reading them. We then fill only the parts that
// we need.
class UnreadBytes final : public arrow::Buffer {
 public:
  // Stands for a part of the file. kResource: the address space has no room.
  [[nodiscard]] static Result<std::shared_ptr<UnreadBytes>> create(std::uint64_t file_offset_bytes,
                                                                   std::int64_t size_bytes);
  ~UnreadBytes() override;
  UnreadBytes(const UnreadBytes&) = delete;
  UnreadBytes& operator=(const UnreadBytes&) = delete;

  [[nodiscard]] bool holds(const arrow::Buffer& part) const;
  // The file offset of `part`, which must lie in this buffer.
  [[nodiscard]] std::uint64_t offset_in_file(const arrow::Buffer& part) const;
  [[nodiscard]] Status fill(const RandomAccessFile& file, const arrow::Buffer& part);

 private:
  UnreadBytes(std::uint8_t* memory, std::uint64_t file_offset_bytes, std::int64_t size_bytes);

  std::uint8_t* memory_;
  std::uint64_t file_offset_bytes_;
};

class ArrowInput final : public arrow::io::RandomAccessFile {
 public:
  ArrowInput(const xtts::RandomAccessFile& file, arrow::MemoryPool* pool)
      : file_(file), pool_(pool) {}

  arrow::Status Close() override;
  [[nodiscard]] bool closed() const override { return is_closed_; }
  [[nodiscard]] arrow::Result<std::int64_t> Tell() const override { return position_; }
  arrow::Status Seek(std::int64_t position) override;
  arrow::Result<std::int64_t> Read(std::int64_t size_bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t size_bytes) override;
  arrow::Result<std::int64_t> GetSize() override;
  arrow::Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t size_bytes,
                                     void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position,
                                                       std::int64_t size_bytes) override;

 private:
  const xtts::RandomAccessFile& file_;
  arrow::MemoryPool* pool_;
  std::int64_t position_ = 0;
  bool is_closed_ = false;
};

}  // namespace xtts::corpus
