#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/index.hpp"

namespace xtts::formats {
namespace {

Status misuse(std::string message) {
  return {StatusCode::kInternal, "index encoder: " + std::move(message)};
}

}  // namespace

IndexEncoder::IndexEncoder(Sink sink, std::uint64_t generation, std::uint64_t record_count)
    : sink_(std::move(sink)) {
  footer_.generation = generation;
  footer_.record_count = record_count;
  chunk_.reserve(kIndexChunkBytes);
}

Status IndexEncoder::begin_section(SectionKind kind, std::uint32_t column_id) {
  if (section_open_) return misuse("a section begins within another one");
  if (footer_.sections.size() == kIndexSectionsMax) return misuse("more than 64 sections");
  if (footer_.find(kind, column_id) != nullptr) return misuse("a section is written twice");
  XTTS_TRY(pad());
  footer_.sections.push_back({kind, column_id, written_bytes_, 0, 0});
  section_open_ = true;
  return {};
}

Status IndexEncoder::append(std::span<const std::byte> bytes) {
  if (!section_open_) return misuse("bytes outside a section");
  return put(bytes);
}

std::uint64_t IndexEncoder::section_bytes() const noexcept {
  return section_open_ ? written_bytes_ - footer_.sections.back().offset_bytes : 0;
}

Status IndexEncoder::end_section(std::uint64_t row_count) {
  if (!section_open_) return misuse("no section to end");
  SectionEntry& section = footer_.sections.back();
  section.size_bytes = section_bytes();
  section.row_count = row_count;
  section_open_ = false;
  if (!section_rows_fit(section.kind, section.size_bytes, row_count)) {
    return misuse("rows do not fill the section's bytes");
  }
  return {};
}

Result<IndexEncoder::Finished> IndexEncoder::finish() {
  if (section_open_) return misuse("finished within a section");
  XTTS_TRY(pad());
  XTTS_TRY(flush_chunk());
  std::string checks;
  for (const std::uint64_t check : chunk_checks_) formats::append(checks, check);
  footer_.data_bytes = written_bytes_;
  footer_.chunk_count = chunk_checks_.size();
  footer_.chunk_table_check = check64(bytes_of(checks));
  footer_.file_bytes = written_bytes_ + checks.size() + kIndexFooterBytes;
  const std::string footer = encode_index_footer(footer_);
  // We never write a footer that the readers would refuse.
  if (auto read_back = decode_index_footer(bytes_of(footer), footer_.file_bytes); !read_back) {
    return misuse(read_back.status().message());
  }
  XTTS_TRY(sink_(bytes_of(checks)));
  XTTS_TRY(sink_(bytes_of(footer)));
  return Finished{digest128(footer), footer_.file_bytes};
}

// A full chunk goes to the sink at once.
Status IndexEncoder::put(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), kIndexChunkBytes - chunk_.size());
    chunk_.insert(chunk_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    written_bytes_ += size;
    bytes = bytes.subspan(size);
    if (chunk_.size() == kIndexChunkBytes) XTTS_TRY(flush_chunk());
  }
  return {};
}

Status IndexEncoder::pad() {
  static constexpr std::array<std::byte, kIndexAlignmentBytes> kZeros{};
  const std::uint64_t size =
      align_up<std::uint64_t>(written_bytes_, kIndexAlignmentBytes) - written_bytes_;
  return put(std::span(kZeros).first(size));
}

Status IndexEncoder::flush_chunk() {
  if (chunk_.empty()) return {};
  chunk_checks_.push_back(index_chunk_check(chunk_checks_.size(), chunk_));
  XTTS_TRY(sink_(chunk_));
  chunk_.clear();
  return {};
}

}  // namespace xtts::formats
