// Rows of the index's sections (cache-v1.md, section 8). Any bytes of the right size are a row.
// The reader checks a row's numbers against the tables that they point into.
#include <cassert>

#include "formats/bytes.hpp"
#include "formats/index.hpp"

namespace xtts::formats {

void append_row(const PlanRow& row, std::string& out) {
  append(out, row.mel_len);
  append(out, row.text_len);
  append(out, row.speaker);
  append(out, row.language);
  append(out, row.dataset);
  append(out, row.split);
  append(out, row.flags);
  append(out, std::uint16_t{0});
  append(out, row.details_offset);
  append(out, row.details_bytes);
}

void append_row(const LocationRow& row, std::string& out) {
  append(out, row.block_row);
  append(out, row.slot);
  append(out, std::uint16_t{0});
}

void append_row(const IdHashRow& row, std::string& out) {
  append_digest(out, row.hash);
  append(out, row.position);
  append(out, std::uint32_t{0});
}

void append_row(const BlockRow& row, std::string& out) {
  const BlockPlace& place = row.place;
  for (const std::uint64_t value :
       {place.header_offset, place.payload_offset, place.payload_bytes, place.facts_offset,
        place.facts_bytes, place.header_check, place.facts_check}) {
    append(out, value);
  }
  append(out, row.shard);
  append(out, place.record_count);
  append(out, std::uint16_t{0});
}

void append_row(const TombstoneRow& row, std::string& out) {
  append(out, row.column_id);
  append(out, row.block_row);
  append(out, row.slot);
  append(out, std::uint16_t{0});
}

PlanRow decode_plan_row(std::span<const std::byte> bytes) {
  assert(bytes.size() == kPlanRowBytes);
  PlanRow row;
  row.mel_len = load<std::uint32_t>(bytes, 0);
  row.text_len = load<std::uint32_t>(bytes, 4);
  row.speaker = load<std::int32_t>(bytes, 8);
  row.language = load<std::int16_t>(bytes, 12);
  row.dataset = load<std::uint16_t>(bytes, 14);
  row.split = load<std::uint8_t>(bytes, 16);
  row.flags = load<std::uint8_t>(bytes, 17);
  row.details_offset = load<std::uint64_t>(bytes, 20);
  row.details_bytes = load<std::uint32_t>(bytes, 28);
  return row;
}

LocationRow decode_location_row(std::span<const std::byte> bytes) {
  assert(bytes.size() == kLocationRowBytes);
  return {load<std::uint32_t>(bytes, 0), load<std::uint16_t>(bytes, 4)};
}

IdHashRow decode_id_hash_row(std::span<const std::byte> bytes) {
  assert(bytes.size() == kIdHashRowBytes);
  return {load_digest(bytes, 0), load<std::uint32_t>(bytes, 16)};
}

BlockRow decode_block_row(std::span<const std::byte> bytes) {
  assert(bytes.size() == kBlockRowBytes);
  BlockRow row;
  row.place.header_offset = load<std::uint64_t>(bytes, 0);
  row.place.payload_offset = load<std::uint64_t>(bytes, 8);
  row.place.payload_bytes = load<std::uint64_t>(bytes, 16);
  row.place.facts_offset = load<std::uint64_t>(bytes, 24);
  row.place.facts_bytes = load<std::uint64_t>(bytes, 32);
  row.place.header_check = load<std::uint64_t>(bytes, 40);
  row.place.facts_check = load<std::uint64_t>(bytes, 48);
  row.shard = load<std::uint32_t>(bytes, 56);
  row.place.record_count = load<std::uint16_t>(bytes, 60);
  return row;
}

TombstoneRow decode_tombstone_row(std::span<const std::byte> bytes) {
  assert(bytes.size() == kTombstoneRowBytes);
  return {load<std::uint32_t>(bytes, 0), load<std::uint32_t>(bytes, 4),
          load<std::uint16_t>(bytes, 8)};
}

}  // namespace xtts::formats
