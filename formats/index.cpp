#include "formats/index.hpp"

#include <algorithm>
#include <cassert>
#include <optional>

#include "base/checked.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/preamble.hpp"

namespace xtts::formats {
namespace {

constexpr std::string_view kMagic = "XTTSIDX1";
constexpr std::string_view kWhat = "index footer";
constexpr std::size_t kChunkBytesAt = 28;
constexpr std::size_t kGenerationAt = 32;
constexpr std::size_t kFileBytesAt = 40;
constexpr std::size_t kDataBytesAt = 48;
constexpr std::size_t kChunkCountAt = 56;
constexpr std::size_t kChunkTableCheckAt = 64;
constexpr std::size_t kRecordCountAt = 72;
constexpr std::size_t kSectionCountAt = 80;
constexpr std::size_t kSectionsAt = 128;
constexpr std::size_t kSectionBytes = 40;
constexpr std::size_t kCheckBytes = 8;

// Returns the bytes of a row, for a section with rows of one size.
std::optional<std::uint64_t> row_bytes_of(SectionKind kind) {
  switch (kind) {
    case SectionKind::kPlan:
      return kPlanRowBytes;
    case SectionKind::kLocations:
      return kLocationRowBytes;
    case SectionKind::kIdHashes:
      return kIdHashRowBytes;
    case SectionKind::kBlocks:
      return kBlockRowBytes;
    case SectionKind::kTombstones:
      return kTombstoneRowBytes;
    case SectionKind::kDetails:
    case SectionKind::kRejects:
    case SectionKind::kManifest:
      break;
  }
  return std::nullopt;
}

// True for sections with one row for each record of the cache.
bool is_by_record(SectionKind kind) {
  return kind == SectionKind::kPlan || kind == SectionKind::kLocations ||
         kind == SectionKind::kIdHashes || kind == SectionKind::kDetails;
}

Status check_sizes(std::span<const std::byte> bytes, const IndexFooter& footer,
                   std::uint64_t file_bytes) {
  if (const auto value = load<std::uint32_t>(bytes, kChunkBytesAt); value != kIndexChunkBytes) {
    return corrupt(formatted("index footer: chunk bytes are {}, not 65536", value));
  }
  if (footer.generation == 0) return corrupt("index footer: generation is 0");
  if (footer.file_bytes != file_bytes) {
    return corrupt(formatted("index footer: file bytes are {}, but the file has {}",
                             footer.file_bytes, file_bytes));
  }
  if (footer.data_bytes > file_bytes || footer.data_bytes % kIndexAlignmentBytes != 0) {
    return corrupt(
        formatted("index footer: bytes before the chunk checks, {}, are above the file's or no "
                  "multiple of 64",
                  footer.data_bytes));
  }
  // data_bytes is at most file_bytes here, so neither the rounding nor the product can wrap for
  // files below 2^63.
  const std::uint64_t chunks =
      footer.data_bytes / kIndexChunkBytes + (footer.data_bytes % kIndexChunkBytes != 0 ? 1 : 0);
  if (footer.chunk_count != chunks) {
    return corrupt(
        formatted("index footer: number of chunks is {}, not {}", footer.chunk_count, chunks));
  }
  if (file_bytes - footer.data_bytes != chunks * kCheckBytes + kIndexFooterBytes) {
    return corrupt("index footer: file bytes are not those of data, chunk checks and footer");
  }
  return {};
}

Status check_section(const SectionEntry& section, const IndexFooter& footer, std::uint64_t end) {
  const auto fail = [&](const std::string& problem) {
    return corrupt(formatted("index footer: section of kind {}, column {}: {}",
                             static_cast<std::uint32_t>(section.kind), section.column_id, problem));
  };
  if (section.offset_bytes % kIndexAlignmentBytes != 0) return fail("offset is no multiple of 64");
  if (section.offset_bytes < end) return fail("offset lies in the section before");
  if (!lies_within(section.offset_bytes, section.size_bytes, footer.data_bytes)) {
    return fail("bytes lie outside the data");
  }
  if (const auto row_bytes = row_bytes_of(section.kind)) {
    const auto bytes = checked_multiply(section.row_count, *row_bytes);
    if (bytes != section.size_bytes) return fail("rows do not fill its bytes");
  } else if (section.row_count > section.size_bytes) {
    return fail("more rows than bytes");
  }
  if (is_by_record(section.kind) && section.row_count != footer.record_count) {
    return fail("rows are not as many as records");
  }
  if (footer.find(section.kind, section.column_id) != nullptr) return fail("is there twice");
  return {};
}

Status decode_sections(std::span<const std::byte> bytes, IndexFooter& footer) {
  const std::size_t count = load<std::uint32_t>(bytes, kSectionCountAt);
  if (count > kIndexSectionsMax) {
    return corrupt(formatted("index footer: number of sections, {}, is above 64", count));
  }
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = kSectionsAt + kSectionBytes * i;
    SectionEntry section;
    section.kind = static_cast<SectionKind>(load<std::uint32_t>(bytes, entry));
    section.column_id = load<std::uint32_t>(bytes, entry + 4);
    section.offset_bytes = load<std::uint64_t>(bytes, entry + 8);
    section.size_bytes = load<std::uint64_t>(bytes, entry + 16);
    section.row_count = load<std::uint64_t>(bytes, entry + 24);
    XTTS_TRY(check_section(section, footer, end));
    end = section.offset_bytes + section.size_bytes;
    footer.sections.push_back(section);
  }
  return {};
}

}  // namespace

const SectionEntry* IndexFooter::find(SectionKind kind, std::uint32_t column_id) const noexcept {
  const auto found = std::ranges::find_if(sections, [&](const SectionEntry& section) {
    return section.kind == kind && section.column_id == column_id;
  });
  return found == sections.end() ? nullptr : &*found;
}

std::string encode_index_footer(const IndexFooter& footer) {
  assert(footer.sections.size() <= kIndexSectionsMax);
  const std::size_t count = std::min(footer.sections.size(), kIndexSectionsMax);
  std::string out(kIndexFooterBytes, '\0');
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(out));
  store_preamble(bytes, kMagic);
  store(bytes, kChunkBytesAt, static_cast<std::uint32_t>(kIndexChunkBytes));
  store(bytes, kGenerationAt, footer.generation);
  store(bytes, kFileBytesAt, footer.file_bytes);
  store(bytes, kDataBytesAt, footer.data_bytes);
  store(bytes, kChunkCountAt, footer.chunk_count);
  store(bytes, kChunkTableCheckAt, footer.chunk_table_check);
  store(bytes, kRecordCountAt, footer.record_count);
  store(bytes, kSectionCountAt, static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const SectionEntry& section = footer.sections[i];
    const std::size_t entry = kSectionsAt + kSectionBytes * i;
    store(bytes, entry, static_cast<std::uint32_t>(section.kind));
    store(bytes, entry + 4, section.column_id);
    store(bytes, entry + 8, section.offset_bytes);
    store(bytes, entry + 16, section.size_bytes);
    store(bytes, entry + 24, section.row_count);
  }
  seal(bytes);
  return out;
}

Result<IndexFooter> decode_index_footer(std::span<const std::byte> bytes,
                                        std::uint64_t file_bytes) {
  if (bytes.size() != kIndexFooterBytes) {
    return corrupt(formatted("index footer: size is {} bytes, not 4096", bytes.size()));
  }
  XTTS_TRY(check_preamble(bytes, kMagic, kWhat));
  IndexFooter footer;
  footer.generation = load<std::uint64_t>(bytes, kGenerationAt);
  footer.file_bytes = load<std::uint64_t>(bytes, kFileBytesAt);
  footer.data_bytes = load<std::uint64_t>(bytes, kDataBytesAt);
  footer.chunk_count = load<std::uint64_t>(bytes, kChunkCountAt);
  footer.chunk_table_check = load<std::uint64_t>(bytes, kChunkTableCheckAt);
  footer.record_count = load<std::uint64_t>(bytes, kRecordCountAt);
  XTTS_TRY(check_sizes(bytes, footer, file_bytes));
  XTTS_TRY(decode_sections(bytes, footer));
  return footer;
}

std::uint64_t index_chunk_check(std::uint64_t chunk, std::span<const std::byte> bytes) {
  return check64(bytes, chunk);
}

bool section_rows_fit(SectionKind kind, std::uint64_t size_bytes, std::uint64_t row_count) {
  const auto row_bytes = row_bytes_of(kind);
  return !row_bytes || checked_multiply(row_count, *row_bytes) == size_bytes;
}

}  // namespace xtts::formats
