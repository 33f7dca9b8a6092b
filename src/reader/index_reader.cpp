#include "reader/index_reader.hpp"

#include <algorithm>
#include <array>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/block.hpp"
#include "reader/read_exactly.hpp"

namespace xtts::reader {

using formats::SectionEntry;
using formats::SectionKind;

namespace {

std::string_view name_of(SectionKind kind) {
  switch (kind) {
    case SectionKind::kPlan:
      return "plan";
    case SectionKind::kLocations:
      return "locations";
    case SectionKind::kIdHashes:
      return "id hashes";
    case SectionKind::kDetails:
      return "details";
    case SectionKind::kBlocks:
      return "blocks";
    case SectionKind::kRejects:
      return "rejects";
    case SectionKind::kTombstones:
      return "tombstones";
    case SectionKind::kManifest:
      return "manifest";
  }
  return "unknown";
}

Status no_such_row(std::string_view file, SectionKind kind, std::uint64_t row, std::uint64_t rows) {
  std::string text(file);
  text += formatted(": no row {} in section ", row);
  text += name_of(kind);
  text += formatted(", which has {}", rows);
  return {StatusCode::kNotFound, std::move(text)};
}

}  // namespace

Result<std::unique_ptr<IndexReader>> IndexReader::open(Env& env, const std::string& path,
                                                       std::string name,
                                                       const IndexIdentity& identity,
                                                       std::shared_ptr<Kept> kept) {
  XTTS_ASSIGN(auto file, ChunkedFile::open(env, path, std::move(name), identity, std::move(kept)));
  return std::unique_ptr<IndexReader>(new IndexReader(std::move(file)));
}

std::uint64_t IndexReader::row_count(SectionKind kind, std::uint32_t column_id) const noexcept {
  const SectionEntry* const section = footer().find(kind, column_id);
  return section == nullptr ? 0 : section->row_count;
}

std::uint64_t IndexReader::clip_count() const noexcept {
  return row_count(SectionKind::kPlan);
}

template <typename Row, std::size_t kRowBytes>
Status IndexReader::read_rows(SectionKind kind, std::uint32_t column_id, std::uint64_t first,
                              std::span<Row> rows, Row (*decode)(std::span<const std::byte>)) {
  const SectionEntry* const section = footer().find(kind, column_id);
  // Ignores rows beyond the section's bytes, whatever its count says.
  const std::uint64_t count =
      section == nullptr ? 0 : std::min(section->row_count, section->size_bytes / kRowBytes);
  if (first > count || rows.size() > count - first) {
    return no_such_row(file_->name(), kind, std::max(first, count), count);
  }
  constexpr std::size_t kRowsAtOnce = 128;
  std::array<std::byte, kRowsAtOnce * kRowBytes> bytes;
  for (std::size_t done = 0; done < rows.size();) {
    const std::size_t now = std::min(kRowsAtOnce, rows.size() - done);
    const std::span<std::byte> wanted = std::span(bytes).first(now * kRowBytes);
    XTTS_TRY(file_->read(section->offset_bytes + (first + done) * kRowBytes, wanted));
    for (std::size_t i = 0; i < now; ++i) {
      rows[done + i] = decode(wanted.subspan(i * kRowBytes, kRowBytes));
    }
    done += now;
  }
  return {};
}

template <typename Row, std::size_t kRowBytes>
Result<Row> IndexReader::read_row(SectionKind kind, std::uint32_t column_id, std::uint64_t row,
                                  Row (*decode)(std::span<const std::byte>)) {
  Row result;
  XTTS_TRY((read_rows<Row, kRowBytes>(kind, column_id, row, std::span(&result, 1), decode)));
  return result;
}

Result<formats::PlanRow> IndexReader::plan_row(std::uint64_t position) {
  return read_row<formats::PlanRow, formats::kPlanRowBytes>(SectionKind::kPlan, 0, position,
                                                            formats::decode_plan_row);
}

Result<formats::LocationRow> IndexReader::location(std::uint32_t column_id,
                                                   std::uint64_t position) {
  return read_row<formats::LocationRow, formats::kLocationRowBytes>(
      SectionKind::kLocations, column_id, position, formats::decode_location_row);
}

Status IndexReader::plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) {
  return read_rows<formats::PlanRow, formats::kPlanRowBytes>(SectionKind::kPlan, 0, first, rows,
                                                             formats::decode_plan_row);
}

Status IndexReader::locations(std::uint32_t column_id, std::uint64_t first,
                              std::span<formats::LocationRow> rows) {
  return read_rows<formats::LocationRow, formats::kLocationRowBytes>(
      SectionKind::kLocations, column_id, first, rows, formats::decode_location_row);
}

Result<formats::BlockRow> IndexReader::block(std::uint32_t column_id, std::uint64_t block_row) {
  return read_row<formats::BlockRow, formats::kBlockRowBytes>(SectionKind::kBlocks, column_id,
                                                              block_row, formats::decode_block_row);
}

Result<formats::IdHashRow> IndexReader::id_hash_row(std::uint64_t rank) {
  return read_row<formats::IdHashRow, formats::kIdHashRowBytes>(SectionKind::kIdHashes, 0, rank,
                                                                formats::decode_id_hash_row);
}

Result<formats::TombstoneRow> IndexReader::tombstone(std::uint64_t row) {
  return read_row<formats::TombstoneRow, formats::kTombstoneRowBytes>(
      SectionKind::kTombstones, 0, row, formats::decode_tombstone_row);
}

Result<formats::RecordFacts> IndexReader::details(std::uint64_t position) {
  XTTS_ASSIGN(const formats::PlanRow row, plan_row(position));
  const SectionEntry* const section = footer().find(SectionKind::kDetails);
  const std::uint64_t section_bytes = section == nullptr ? 0 : section->size_bytes;
  if (row.details_offset > section_bytes ||
      row.details_bytes > section_bytes - row.details_offset) {
    return corrupt(file_->name(), row.details_offset,
                   formatted("the details of position {} lie outside section 4", position));
  }
  std::vector<std::byte> bytes(row.details_bytes);
  const std::uint64_t offset = section == nullptr ? 0 : section->offset_bytes + row.details_offset;
  XTTS_TRY(file_->read(offset, bytes));
  auto facts = formats::decode_facts(bytes);
  if (!facts.ok()) {
    return facts.status().with_context(formatted("{} at byte {}", file_->name(), offset));
  }
  return facts;
}

Result<std::optional<std::uint64_t>> IndexReader::find(const Digest& hash) {
  std::uint64_t first = 0;
  std::uint64_t end = row_count(SectionKind::kIdHashes);
  while (first < end) {
    const std::uint64_t middle = first + (end - first) / 2;
    XTTS_ASSIGN(const formats::IdHashRow row, id_hash_row(middle));
    if (row.hash == hash) return std::optional<std::uint64_t>(row.position);
    if (row.hash < hash) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return std::optional<std::uint64_t>();
}

Result<std::string> IndexReader::section_text(SectionKind kind) {
  const SectionEntry* const section = footer().find(kind);
  if (section == nullptr) return std::string();
  std::string text(section->size_bytes, '\0');
  XTTS_TRY(file_->read(section->offset_bytes, std::as_writable_bytes(std::span(text))));
  return text;
}

Status no_record(const formats::ColumnEntry& column) {
  return {StatusCode::kNotFound,
          formatted("column '{}' has no record of it, because it came or changed after the column "
                    "was added: call add_column again to make what is missing",
                    column.spec.name)};
}

}  // namespace xtts::reader
