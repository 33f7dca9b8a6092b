#include "corpus/source_place.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "corpus/packed_pages.hpp"

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

// One value of an unpacked page; the page is shared with its other values.
class PagePart final : public RandomAccessFile {
 public:
  PagePart(std::shared_ptr<const std::vector<std::byte>> page, const ByteRange& range)
      : page_(std::move(page)), range_(range) {}

  [[nodiscard]] std::uint64_t size_bytes() const override { return range_.size_bytes; }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    if (offset_bytes >= range_.size_bytes) return std::size_t{0};
    const auto size = std::min<std::uint64_t>(out.size(), range_.size_bytes - offset_bytes);
    const auto begin =
        page_->begin() + static_cast<std::ptrdiff_t>(range_.offset_bytes + offset_bytes);
    std::copy_n(begin, size, out.begin());
    return static_cast<std::size_t>(size);
  }

 private:
  std::shared_ptr<const std::vector<std::byte>> page_;
  const ByteRange range_;
};

Result<std::unique_ptr<RandomAccessFile>> open_in_page(std::unique_ptr<RandomAccessFile> file,
                                                       const SourcePlace& place) {
  auto page = unpacked(*file, place.page);
  if (!page.ok()) {
    return Status(page.status().code(), place.path + " " + page.status().message());
  }
  const ByteRange& range = *place.range;
  const std::uint64_t page_bytes = (*page)->size();
  if (range.offset_bytes > page_bytes || range.size_bytes > page_bytes - range.offset_bytes)
    return Status(StatusCode::kBadInput, place.path + " has changed since DATA was listed");
  return std::unique_ptr<RandomAccessFile>(std::make_unique<PagePart>(std::move(*page), range));
}

}  // namespace

std::string SourcePlace::key() const {
  if (!range) return path;
  const std::string part =
      std::to_string(range->offset_bytes) + "+" + std::to_string(range->size_bytes);
  return path + '\0' + part + (page ? "@" + std::to_string(page->packed.offset_bytes) : "");
}

Result<std::unique_ptr<RandomAccessFile>> open_source(Env& env, const SourcePlace& place) {
  XTTS_ASSIGN(auto file, env.open_for_read(place.path));
  if (!place.range) return file;
  if (place.page) return open_in_page(std::move(file), place);
  const std::uint64_t size_bytes = file->size_bytes();
  const ByteRange& range = *place.range;
  if (range.offset_bytes > size_bytes || range.size_bytes > size_bytes - range.offset_bytes) {
    return Status(StatusCode::kBadInput, place.path +
                                             " has become shorter, and lacks what lay at " +
                                             std::to_string(range.offset_bytes));
  }
  return std::unique_ptr<RandomAccessFile>(std::make_unique<FilePart>(std::move(file), range));
}

}  // namespace xtts::corpus
