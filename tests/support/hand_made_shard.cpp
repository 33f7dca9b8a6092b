// make_shard_by_hand() makes a shard file without LMDB: two pages in front, a page header before
// each value, one page behind, all filled with meaningless bytes. What section 4 of cache-v1.md
// calls structure may be any bytes that have the right check.
#include <algorithm>
#include <array>
#include <cstring>

#include "support/test_cache.hpp"

namespace xtts::testing {
namespace {

std::string filler(std::size_t size_bytes) {
  std::string text;
  while (text.size() < size_bytes) text += static_cast<char>('a' + text.size() % 23);
  return text;
}

void align_to_page(std::string& file) {
  const std::size_t behind = file.size() % formats::kPageBytes;
  if (behind != 0) file += filler(formats::kPageBytes - behind);
}

// Pads a record, with a fill value of four bytes: the test columns need no other.
void append_record(const TestRecord& record, std::size_t region_bytes, bool padded,
                   std::string& payload) {
  payload += record.rows;
  std::array<char, 4> fill{};
  if (padded) std::memcpy(fill.data(), &record.fill_bits, fill.size());
  for (std::size_t i = record.rows.size(); i < region_bytes; ++i) payload += fill[i % fill.size()];
}

std::uint64_t check_structure(const formats::ShardTable& table, std::string_view file) {
  Hasher64 hasher;
  for (const formats::ByteRange& range : formats::structure_ranges(table)) {
    hasher.update(as_bytes(file.substr(range.offset_bytes, range.size_bytes)));
  }
  return hasher.finish();
}

class Composer {
 public:
  Composer(const formats::ColumnSpec& column, std::uint64_t generation)
      : column_(column), generation_(generation), file_(filler(2 * formats::kPageBytes)) {}

  void add_block(const TestBlock& block) {
    formats::BlockHeader header;
    header.column = column_;
    header.block_index = static_cast<std::uint32_t>(shard_.table.blocks.size());
    header.generation = generation_;
    for (const TestRecord& record : block.records) {
      header.records.push_back(
          {.id_hash = record.id_hash, .length = record.length, .fill_bits = record.fill_bits});
    }
    header.payload_bytes = formats::lay_out_records(column_, header.records);
    const std::string payload = make_payload(block, header);
    const auto bytes = formats::encode_block_header(header);

    formats::BlockPlace place;
    file_ += filler(formats::kLmdbPageHeaderBytes);
    place.header_offset = file_.size();
    place.header_check = formats::stored_header_check(bytes);
    place.record_count = static_cast<std::uint16_t>(block.records.size());
    file_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    place.payload_offset = file_.size();
    place.payload_bytes = payload.size();
    file_ += payload;
    align_to_page(file_);
    shard_.table.blocks.push_back(place);
  }

  void add_facts(std::size_t block, formats::BlockFacts facts) {
    facts.block_index = static_cast<std::uint32_t>(block);
    const std::string value = formats::encode_block_facts(facts);
    formats::BlockPlace& place = shard_.table.blocks[block];
    file_ += filler(formats::kLmdbPageHeaderBytes);
    place.facts_offset = file_.size();
    place.facts_bytes = value.size();
    place.facts_check = formats::stored_facts_check(as_bytes(value));
    file_ += value;
  }

  [[nodiscard]] MadeShard finish() {
    file_ += filler(formats::kPageBytes);
    shard_.table.file_bytes = file_.size();
    shard_.table.structure_check = check_structure(shard_.table, file_);
    shard_.bytes = std::move(file_);
    return std::move(shard_);
  }

 private:
  [[nodiscard]] std::string make_payload(const TestBlock& block,
                                         formats::BlockHeader& header) const {
    const bool padded = column_.layout == formats::Layout::kPadded;
    std::string payload;
    for (std::size_t slot = 0; slot < block.records.size(); ++slot) {
      const std::size_t size = header.region_bytes(slot);
      append_record(block.records[slot], size, padded, payload);
      const auto region =
          as_bytes(std::string_view(payload).substr(header.records[slot].offset_bytes, size));
      header.records[slot].check = formats::record_check(header, slot, region);
    }
    return payload;
  }

  const formats::ColumnSpec& column_;
  std::uint64_t generation_;
  std::string file_;
  MadeShard shard_;
};

}  // namespace

MadeShard make_shard_by_hand(const formats::ColumnSpec& column, std::uint64_t generation,
                             const std::vector<TestBlock>& blocks) {
  Composer composer(column, generation);
  for (const TestBlock& block : blocks) composer.add_block(block);
  for (std::size_t i = 0; i < blocks.size(); ++i) composer.add_facts(i, blocks[i].facts);
  return composer.finish();
}

}  // namespace xtts::testing
