#include "corpus/arrow/arrow_input.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/try.hpp"

namespace xtts::corpus {

Status read_exactly(const RandomAccessFile& file, std::uint64_t offset_bytes, void* out,
                    std::size_t size_bytes) {
  const std::span<std::byte> bytes(static_cast<std::byte*>(out), size_bytes);
  XTTS_ASSIGN(const std::size_t got, file.read_at(offset_bytes, bytes));
  if (got == size_bytes) return {};
  return {StatusCode::kBadInput, "is cut short at byte " + std::to_string(offset_bytes + got)};
}

Result<std::shared_ptr<UnreadBytes>> UnreadBytes::create(std::uint64_t file_offset_bytes,
                                                         std::int64_t size_bytes) {
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(size_bytes, 1));
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return Status(StatusCode::kResource, "needs " + std::to_string(size) +
                                             " bytes of address space: " + std::strerror(errno));
  }
  return std::shared_ptr<UnreadBytes>(
      new UnreadBytes(static_cast<std::uint8_t*>(memory), file_offset_bytes, size_bytes));
}

UnreadBytes::UnreadBytes(std::uint8_t* memory, std::uint64_t file_offset_bytes,
                         std::int64_t size_bytes)
    : Buffer(memory, size_bytes), memory_(memory), file_offset_bytes_(file_offset_bytes) {}

UnreadBytes::~UnreadBytes() {
  ::munmap(memory_, static_cast<std::size_t>(std::max<std::int64_t>(size(), 1)));
}

bool UnreadBytes::holds(const arrow::Buffer& part) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory_);
  const auto at = reinterpret_cast<std::uintptr_t>(part.data());
  if (at < begin) return false;
  const std::uintptr_t offset = at - begin;
  const auto size_bytes = static_cast<std::uintptr_t>(size());
  return offset <= size_bytes && static_cast<std::uintptr_t>(part.size()) <= size_bytes - offset;
}

std::uint64_t UnreadBytes::offset_in_file(const arrow::Buffer& part) const {
  return file_offset_bytes_ + static_cast<std::uint64_t>(part.data() - memory_);
}

Status UnreadBytes::fill(const RandomAccessFile& file, const arrow::Buffer& part) {
  return read_exactly(file, offset_in_file(part), memory_ + (part.data() - memory_),
                      static_cast<std::size_t>(part.size()));
}

arrow::Status ArrowInput::Close() {
  is_closed_ = true;
  return arrow::Status::OK();
}

arrow::Status ArrowInput::Seek(std::int64_t position) {
  position_ = position;
  return arrow::Status::OK();
}

arrow::Result<std::int64_t> ArrowInput::GetSize() {
  return static_cast<std::int64_t>(file_.size_bytes());
}

arrow::Result<std::int64_t> ArrowInput::ReadAt(std::int64_t position, std::int64_t size_bytes,
                                               void* out) {
  if (position < 0 || size_bytes < 0) return arrow::Status::Invalid("a negative offset");
  const std::span<std::byte> bytes(static_cast<std::byte*>(out),
                                   static_cast<std::size_t>(size_bytes));
  const auto got = file_.read_at(static_cast<std::uint64_t>(position), bytes);
  if (!got.ok()) return arrow::Status::IOError(got.status().message());
  return static_cast<std::int64_t>(*got);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ArrowInput::ReadAt(std::int64_t position,
                                                                 std::int64_t size_bytes) {
  if (position < 0 || size_bytes < 0) return arrow::Status::Invalid("a negative offset");
  const auto file_bytes = static_cast<std::int64_t>(file_.size_bytes());
  const std::int64_t left = std::max<std::int64_t>(file_bytes - position, 0);
  ARROW_ASSIGN_OR_RAISE(auto buffer,
                        arrow::AllocateResizableBuffer(std::min(size_bytes, left), pool_));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t got,
                        ReadAt(position, buffer->size(), buffer->mutable_data()));
  ARROW_RETURN_NOT_OK(buffer->Resize(got));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Result<std::int64_t> ArrowInput::Read(std::int64_t size_bytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const std::int64_t got, ReadAt(position_, size_bytes, out));
  position_ += got;
  return got;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ArrowInput::Read(std::int64_t size_bytes) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, size_bytes));
  position_ += buffer->size();
  return buffer;
}

}  // namespace xtts::corpus
