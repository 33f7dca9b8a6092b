#include "pipeline/copied_index.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/try.hpp"
#include "formats/index.hpp"
#include "pipeline/index_file.hpp"
#include "reader/chunked_file.hpp"

namespace xtts::pipeline {
namespace {

using formats::SectionKind;

constexpr std::size_t kCopiedPieceBytes = std::size_t{1} << 20U;

bool is_of_a_column(SectionKind kind) {
  return kind == SectionKind::kBlocks || kind == SectionKind::kLocations;
}

class IndexCopier {
 public:
  IndexCopier(Env& env, const CopiedIndex& changes, store::CacheFolder& folder)
      : env_(env), changes_(changes), folder_(folder), next_(changes.columns.begin()) {}

  Status write(const formats::Manifest& before, formats::Manifest& manifest) {
    const std::string name = formats::index_file_name(before.index_digest);
    XTTS_ASSIGN(index_, reader::ChunkedFile::open(
                            env_, join_path(folder_.path(), name), name,
                            {.file_bytes = before.index_bytes, .digest = before.index_digest}));
    clip_count_ = before.counts.records;
    XTTS_ASSIGN(file_, IndexFile::begin(folder_, manifest.generation, clip_count_));
    for (const formats::SectionEntry& section : index_->footer().sections) {
      XTTS_TRY(put_columns_before(section));
      XTTS_TRY(copy(section));
    }
    return file_->finish(manifest);
  }

 private:
  // Puts the columns in the order of a build, which writes the same index to the byte.
  Status put_columns_before(const formats::SectionEntry& section) {
    for (; next_ != changes_.columns.end(); ++next_) {
      const auto& [id, rows] = *next_;
      const bool is_next = section.kind == SectionKind::kBlocks
                               ? section.column_id > id
                               : section.kind == SectionKind::kRejects;
      if (!is_next) return {};
      XTTS_TRY(file_->write_column(id, rows, clip_count_));
    }
    return {};
  }

  Status copy(const formats::SectionEntry& section) {
    if (section.kind == SectionKind::kManifest) return {};
    if (is_of_a_column(section.kind) && changes_.columns.contains(section.column_id)) return {};
    if (section.kind == SectionKind::kTombstones)
      return file_->write_section(section.kind, 0, changes_.tombstones.rows,
                                  changes_.tombstones.count);
    formats::IndexEncoder& encoder = file_->encoder();
    XTTS_TRY(encoder.begin_section(section.kind, section.column_id));
    std::vector<std::byte> piece;
    for (std::uint64_t done = 0; done < section.size_bytes; done += piece.size()) {
      piece.resize(static_cast<std::size_t>(
          std::min<std::uint64_t>(kCopiedPieceBytes, section.size_bytes - done)));
      XTTS_TRY(index_->read(section.offset_bytes + done, piece));
      XTTS_TRY(encoder.append(piece));
    }
    return encoder.end_section(section.row_count);
  }

  Env& env_;
  const CopiedIndex& changes_;
  store::CacheFolder& folder_;
  std::map<std::uint32_t, ColumnRows>::const_iterator next_;
  std::uint64_t clip_count_ = 0;
  std::unique_ptr<reader::ChunkedFile> index_;
  std::unique_ptr<IndexFile> file_;
};

}  // namespace

Status write_copied_index(Env& env, const formats::Manifest& before, const CopiedIndex& changes,
                          store::CacheFolder& folder, formats::Manifest& manifest) {
  return IndexCopier(env, changes, folder).write(before, manifest);
}

}  // namespace xtts::pipeline
