#include "decode/detail/source_reader.hpp"

#include <algorithm>
#include <new>

namespace xtts::decode::detail {
namespace {

// One system call reads 32 KiB. The buffer is small, so malloc returns the same warm pages again.
// libav replaces it while it probes, so keeping it from clip to clip would gain nothing.
constexpr int kBufferBytes = 32 << 10;

// A demuxer reads a file once and parts of it twice (probing, indices at the end). More than this
// is a loop.
constexpr std::uint64_t kReadsOfTheFileMax = 8;
constexpr std::uint64_t kExtraReadBytes = std::uint64_t{64} << 20;

}  // namespace

SourceReader::SourceReader(const RandomAccessFile& file)
    : file_(file), budget_bytes_(file.size_bytes() * kReadsOfTheFileMax + kExtraReadBytes) {
  const Result<std::size_t> got = file.read_at(0, std::as_writable_bytes(std::span(head_)));
  if (!got.ok()) failure_ = Status(StatusCode::kSourceIo, got.status().message());
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) return;
  io_.reset(
      avio_alloc_context(buffer, kBufferBytes, 0, this, read_callback, nullptr, seek_callback));
  if (io_ == nullptr) av_free(buffer);
}

int SourceReader::read_callback(void* self, std::uint8_t* out, int size) noexcept {
  auto& reader = *static_cast<SourceReader*>(self);
  try {
    return reader.read(
        std::as_writable_bytes(std::span(out, static_cast<std::size_t>(std::max(size, 0)))));
  } catch (const std::bad_alloc&) {
    reader.failure_ = Status(StatusCode::kResource, "");  // an empty message needs no memory
    return AVERROR(ENOMEM);
  } catch (...) {
    reader.failure_ = Status(StatusCode::kInternal, "");
    return AVERROR(EIO);
  }
}

int SourceReader::read(std::span<std::byte> out) {
  if (!failure_.ok()) return AVERROR(EIO);
  if (out.size() > budget_bytes_) {
    failure_ = Status(StatusCode::kBadInput, "makes FFmpeg read the same bytes again and again");
    return AVERROR(EIO);
  }
  const Result<std::size_t> got = file_.read_at(position_bytes_, out);
  if (!got.ok()) {
    failure_ = Status(StatusCode::kSourceIo, got.status().message());
    return AVERROR(EIO);
  }
  budget_bytes_ -= *got;
  position_bytes_ += *got;
  return *got == 0 ? AVERROR_EOF : static_cast<int>(*got);
}

std::string SourceReader::at(std::uint64_t offset_bytes, std::size_t count) {
  if (!failure_.ok() || offset_bytes >= file_.size_bytes()) return {};
  std::string bytes(count, '\0');
  const Result<std::size_t> got =
      file_.read_at(offset_bytes, std::as_writable_bytes(std::span(bytes)));
  if (!got.ok()) failure_ = Status(StatusCode::kSourceIo, got.status().message());
  bytes.resize(got.ok() ? *got : 0);
  return bytes;
}

std::int64_t SourceReader::seek_callback(void* self, std::int64_t offset, int whence) noexcept {
  auto& reader = *static_cast<SourceReader*>(self);
  const auto size = static_cast<std::int64_t>(reader.file_.size_bytes());
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE:
      return size;
    case SEEK_SET:
      break;
    case SEEK_CUR:
      if (__builtin_add_overflow(offset, static_cast<std::int64_t>(reader.position_bytes_),
                                 &offset)) {
        return AVERROR(EINVAL);
      }
      break;
    case SEEK_END:
      if (__builtin_add_overflow(offset, size, &offset)) return AVERROR(EINVAL);
      break;
    default:
      return AVERROR(EINVAL);
  }
  if (offset < 0) return AVERROR(EINVAL);
  reader.position_bytes_ =
      static_cast<std::uint64_t>(offset);  // beyond the end is allowed; a read there gives none
  return offset;
}

}  // namespace xtts::decode::detail
