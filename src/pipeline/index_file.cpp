#include "pipeline/index_file.hpp"

#include <utility>

#include "base/try.hpp"

namespace xtts::pipeline {
namespace {

using formats::SectionKind;

constexpr const char* kTemporaryIndex = "index.tmp";

}  // namespace

Result<std::unique_ptr<IndexFile>> IndexFile::begin(store::CacheFolder& folder,
                                                    std::uint64_t generation,
                                                    std::uint64_t record_count) {
  XTTS_ASSIGN(auto file, folder.begin_file(kTemporaryIndex));
  return std::unique_ptr<IndexFile>(
      new IndexFile(folder, std::move(file), generation, record_count));
}

IndexFile::IndexFile(store::CacheFolder& folder, std::unique_ptr<WritableFile> file,
                     std::uint64_t generation, std::uint64_t record_count)
    : folder_(folder),
      file_(std::move(file)),
      encoder_([this](std::span<const std::byte> bytes) { return file_->append(bytes); },
               generation, record_count) {}

Status IndexFile::write_section(SectionKind kind, std::uint32_t column, std::string_view bytes,
                                std::uint64_t rows) {
  XTTS_TRY(encoder_.begin_section(kind, column));
  XTTS_TRY(encoder_.append(as_bytes(bytes)));
  return encoder_.end_section(rows);
}

Status IndexFile::write_column(std::uint32_t id, const ColumnRows& rows, std::uint64_t clip_count) {
  XTTS_TRY(write_section(SectionKind::kBlocks, id, rows.block_rows, rows.block_count));
  return write_section(SectionKind::kLocations, id, rows.locations, clip_count);
}

Status IndexFile::finish(formats::Manifest& manifest) {
  XTTS_ASSIGN(const std::string copy, encode_manifest_copy(manifest));
  XTTS_TRY(write_section(SectionKind::kManifest, 0, copy, 1));
  XTTS_ASSIGN(const auto finished, encoder_.finish());
  XTTS_TRY(file_->sync());
  XTTS_TRY(file_->close());
  XTTS_TRY(folder_.commit_file(kTemporaryIndex, formats::index_file_name(finished.digest)));
  manifest.index_bytes = finished.file_bytes;
  manifest.index_digest = finished.digest;
  return {};
}

}  // namespace xtts::pipeline
