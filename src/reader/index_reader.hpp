// IndexReader returns typed rows of an index file. Every row comes from checked bytes; a caller
// that follows a row's reference checks its bounds. Synchronised inside: any number of threads.
// Failures: kNotFound (no such position or row; no file), kCorrupt, kUnsupported, kResource.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "reader/chunked_file.hpp"

namespace xtts::reader {

class IndexReader {
 public:
  // As of ChunkedFile::open().
  [[nodiscard]] static Result<std::unique_ptr<IndexReader>> open(
      Env& env, const std::string& path, std::string name, const IndexIdentity& identity,
      std::shared_ptr<Kept> kept = std::make_shared<Kept>());

  [[nodiscard]] const formats::IndexFooter& footer() const noexcept { return file_->footer(); }
  [[nodiscard]] const ChunkedFile& file() const noexcept { return *file_; }
  void reopen_as(Env& env, std::string path) { file_->reopen_as(env, std::move(path)); }
  [[nodiscard]] std::uint64_t clip_count() const noexcept;
  [[nodiscard]] std::uint64_t row_count(formats::SectionKind kind,
                                        std::uint32_t column_id = 0) const noexcept;

  [[nodiscard]] Result<formats::PlanRow> plan_row(std::uint64_t position);
  [[nodiscard]] Result<formats::LocationRow> location(std::uint32_t column_id,
                                                      std::uint64_t position);
  // Fills several rows, beginning at `first`.
  [[nodiscard]] Status plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows);
  [[nodiscard]] Status locations(std::uint32_t column_id, std::uint64_t first,
                                 std::span<formats::LocationRow> rows);
  [[nodiscard]] Result<formats::BlockRow> block(std::uint32_t column_id, std::uint64_t block_row);
  [[nodiscard]] Result<formats::IdHashRow> id_hash_row(std::uint64_t rank);
  [[nodiscard]] Result<formats::TombstoneRow> tombstone(std::uint64_t row);
  [[nodiscard]] Result<formats::RecordFacts> details(std::uint64_t position);
  // Position of the clip with this id hash; nullopt: there is none.
  [[nodiscard]] Result<std::optional<std::uint64_t>> find(const Digest& hash);
  // A whole section; for sections that are text.
  [[nodiscard]] Result<std::string> section_text(formats::SectionKind kind);

 private:
  explicit IndexReader(std::unique_ptr<ChunkedFile> file) : file_(std::move(file)) {}
  template <typename Row, std::size_t kRowBytes>
  [[nodiscard]] Result<Row> read_row(formats::SectionKind kind, std::uint32_t column_id,
                                     std::uint64_t row, Row (*decode)(std::span<const std::byte>));
  template <typename Row, std::size_t kRowBytes>
  [[nodiscard]] Status read_rows(formats::SectionKind kind, std::uint32_t column_id,
                                 std::uint64_t first, std::span<Row> rows,
                                 Row (*decode)(std::span<const std::byte>));

  std::unique_ptr<ChunkedFile> file_;
};

// The failure for a clip that an added column lacks.
[[nodiscard]] Status no_record(const formats::ColumnEntry& column);

}  // namespace xtts::reader
