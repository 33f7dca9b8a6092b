#include "reader/read_exactly.hpp"

#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::reader {
namespace {

bool lies_inside(const RandomAccessFile& file, std::uint64_t offset_bytes,
                 std::uint64_t size_bytes) {
  return offset_bytes <= file.size_bytes() && size_bytes <= file.size_bytes() - offset_bytes;
}

Status ends_too_early(std::string_view name, std::uint64_t offset_bytes, std::uint64_t size_bytes) {
  return corrupt(name, offset_bytes,
                 formatted("the file ends before the {} bytes wanted here", size_bytes));
}

}  // namespace

Status corrupt(std::string_view file, std::uint64_t offset_bytes, std::string_view problem) {
  std::string text(file);
  text += formatted(" at byte {}: ", offset_bytes);
  text += problem;
  return {StatusCode::kCorrupt, std::move(text)};
}

Status read_exactly(const RandomAccessFile& file, std::string_view name, std::uint64_t offset_bytes,
                    std::span<std::byte> out) {
  if (out.empty()) return {};  // an empty vector's memory is null; some readers refuse that
  XTTS_ASSIGN(const std::size_t got, file.read_at(offset_bytes, out));
  return got == out.size() ? Status() : ends_too_early(name, offset_bytes, out.size());
}

Result<std::vector<std::byte>> read_exactly(const RandomAccessFile& file, std::string_view name,
                                            std::uint64_t offset_bytes, std::uint64_t size_bytes) {
  if (!lies_inside(file, offset_bytes, size_bytes)) {
    return ends_too_early(name, offset_bytes, size_bytes);
  }
  std::vector<std::byte> bytes(size_bytes);
  XTTS_TRY(read_exactly(file, name, offset_bytes, bytes));
  return bytes;
}

}  // namespace xtts::reader
