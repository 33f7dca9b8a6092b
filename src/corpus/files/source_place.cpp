#include "corpus/files/source_place.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/column_files.hpp"

namespace xtts::corpus {
namespace {

class FilePart final : public RandomAccessFile {
 public:
  FilePart(std::unique_ptr<RandomAccessFile> file, const ByteRange& range)
      : file_(std::move(file)), range_(range) {}

  [[nodiscard]] std::uint64_t size_bytes() const override { return range_.size_bytes; }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    if (offset_bytes >= range_.size_bytes) return std::size_t{0};
    const auto size = std::min<std::uint64_t>(out.size(), range_.size_bytes - offset_bytes);
    return file_->read_at(range_.offset_bytes + offset_bytes,
                          out.first(static_cast<std::size_t>(size)));
  }

 private:
  std::unique_ptr<RandomAccessFile> file_;
  const ByteRange range_;
};

class SoundOfRow final : public RandomAccessFile {
 public:
  explicit SoundOfRow(std::vector<std::byte> sound) : sound_(std::move(sound)) {}

  [[nodiscard]] std::uint64_t size_bytes() const override { return sound_.size(); }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    if (offset_bytes >= sound_.size()) return std::size_t{0};
    const auto rest = std::span(sound_).subspan(static_cast<std::size_t>(offset_bytes));
    const std::size_t size = std::min(out.size(), rest.size());
    std::copy_n(rest.begin(), size, out.begin());
    return size;
  }

 private:
  const std::vector<std::byte> sound_;
};

Result<std::unique_ptr<RandomAccessFile>> open_row(Env& env, const SourcePlace& place) {
  auto sound = sound_of_row(env, place.path, *place.row);
  if (!sound.ok()) {
    return Status(sound.status().code(), formatted("{} {}", place.path, sound.status().message()));
  }
  return std::unique_ptr<RandomAccessFile>(std::make_unique<SoundOfRow>(std::move(*sound)));
}

}  // namespace

std::string SourcePlace::key() const {
  if (!range) return path;
  if (row) return path + '\0' + "row " + std::to_string(*row);
  return path + '\0' + std::to_string(range->offset_bytes) + "+" +
         std::to_string(range->size_bytes);
}

Result<std::unique_ptr<RandomAccessFile>> open_source(Env& env, const SourcePlace& place) {
  if (place.row) return open_row(env, place);
  XTTS_ASSIGN(auto file, env.open_for_read(place.path));
  if (!place.range) return file;
  const std::uint64_t size_bytes = file->size_bytes();
  const ByteRange& range = *place.range;
  if (range.offset_bytes > size_bytes || range.size_bytes > size_bytes - range.offset_bytes) {
    return Status(StatusCode::kBadInput,
                  formatted("{} has become shorter, and lacks what lay at {}", place.path,
                            range.offset_bytes));
  }
  return std::unique_ptr<RandomAccessFile>(std::make_unique<FilePart>(std::move(file), range));
}

}  // namespace xtts::corpus
