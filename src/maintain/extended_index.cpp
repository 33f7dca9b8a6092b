#include "maintain/extended_index.hpp"

#include <algorithm>
#include <vector>

#include "base/try.hpp"
#include "formats/index.hpp"
#include "reader/cache_paths.hpp"
#include "reader/chunked_file.hpp"

namespace xtts::maintain {
namespace {

using formats::SectionKind;

constexpr const char* kTemporaryIndex = "index.tmp";
constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;

class ExtendedIndex {
 public:
  ExtendedIndex(reader::CacheView& view, std::uint32_t column, bool keeps_tombstones,
                const pipeline::ColumnRows& rows, store::CacheFolder& folder)
      : view_(view),
        column_(column),
        keeps_tombstones_(keeps_tombstones),
        rows_(rows),
        folder_(folder) {}

  Status write(formats::Manifest& manifest) {
    const formats::Manifest& before = view_.manifest();
    const std::string name = formats::index_file_name(before.index_digest);
    XTTS_ASSIGN(index_, reader::ChunkedFile::open(
                            view_.env(), join_path(view_.path(), name), name,
                            {.file_bytes = before.index_bytes, .digest = before.index_digest}));
    XTTS_ASSIGN(file_, folder_.begin_file(kTemporaryIndex));
    encoder_.emplace([this](std::span<const std::byte> bytes) { return file_->append(bytes); },
                     manifest.generation, view_.size());
    for (const formats::SectionEntry& section : index_->footer().sections) {
      if (!is_put_ && stands_behind(section)) XTTS_TRY(put_column());
      XTTS_TRY(copy(section));
    }
    XTTS_ASSIGN(const std::string copy, encode_manifest_copy(manifest));
    XTTS_TRY(put(SectionKind::kManifest, copy, 1));
    XTTS_ASSIGN(const auto finished, encoder_->finish());
    XTTS_TRY(file_->sync());
    XTTS_TRY(file_->close());
    XTTS_TRY(folder_.commit_file(kTemporaryIndex, formats::index_file_name(finished.digest)));
    manifest.index_bytes = finished.file_bytes;
    manifest.index_digest = finished.digest;
    return {};
  }

 private:
  // In the order of a build, which writes the same index to the byte.
  [[nodiscard]] bool stands_behind(const formats::SectionEntry& section) const {
    if (section.kind == SectionKind::kBlocks) return section.column_id > column_;
    return section.kind == SectionKind::kRejects;
  }

  Status put_column() {
    is_put_ = true;
    XTTS_TRY(put(SectionKind::kBlocks, rows_.block_rows, rows_.block_count));
    return put(SectionKind::kLocations, rows_.locations, view_.size());
  }

  Status copy(const formats::SectionEntry& section) {
    const bool is_of_column =
        section.kind == SectionKind::kBlocks || section.kind == SectionKind::kLocations;
    if (section.kind == SectionKind::kManifest) return {};
    if (is_of_column && section.column_id == column_) return {};
    if (section.kind == SectionKind::kTombstones && !keeps_tombstones_) return put_tombstones();
    XTTS_TRY(encoder_->begin_section(section.kind, section.column_id));
    std::vector<std::byte> piece;
    for (std::uint64_t done = 0; done < section.size_bytes; done += piece.size()) {
      piece.resize(static_cast<std::size_t>(
          std::min<std::uint64_t>(kPieceBytes, section.size_bytes - done)));
      XTTS_TRY(index_->read(section.offset_bytes + done, piece));
      XTTS_TRY(encoder_->append(piece));
    }
    return encoder_->end_section(section.row_count);
  }

  // The column's own lie in shards that are gone.
  Status put_tombstones() {
    XTTS_ASSIGN(const auto tombstones, view_.tombstones());
    std::string rows;
    std::uint64_t count = 0;
    for (const formats::TombstoneRow& row : tombstones) {
      if (row.column_id == column_) continue;
      append_row(row, rows);
      ++count;
    }
    return put(SectionKind::kTombstones, rows, count);
  }

  Status put(SectionKind kind, std::string_view bytes, std::uint64_t rows) {
    const bool is_of_column = kind == SectionKind::kBlocks || kind == SectionKind::kLocations;
    XTTS_TRY(encoder_->begin_section(kind, is_of_column ? column_ : 0));
    XTTS_TRY(encoder_->append(as_bytes(bytes)));
    return encoder_->end_section(rows);
  }

  reader::CacheView& view_;
  const std::uint32_t column_;
  const bool keeps_tombstones_;
  const pipeline::ColumnRows& rows_;
  store::CacheFolder& folder_;
  std::unique_ptr<reader::ChunkedFile> index_;
  std::unique_ptr<WritableFile> file_;
  std::optional<formats::IndexEncoder> encoder_;
  bool is_put_ = false;
};

}  // namespace

Status write_extended_index(reader::CacheView& view, std::uint32_t column, bool keeps_tombstones,
                            const pipeline::ColumnRows& rows, store::CacheFolder& folder,
                            formats::Manifest& manifest) {
  return ExtendedIndex(view, column, keeps_tombstones, rows, folder).write(manifest);
}

}  // namespace xtts::maintain
