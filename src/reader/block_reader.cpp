#include "reader/block_reader.hpp"

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "reader/read_exactly.hpp"

namespace xtts::reader {
namespace {

std::string where(std::string_view name, std::uint64_t offset_bytes) {
  return formatted("{} at byte {}", name, offset_bytes);
}

bool is_of_column(const formats::ColumnSpec& found, const formats::ColumnSpec& expected) {
  return found.name == expected.name && found.id == expected.id && found.dtype == expected.dtype &&
         found.shape == expected.shape && found.layout == expected.layout &&
         found.fingerprint == expected.fingerprint;
}

}  // namespace

Result<formats::BlockHeader> check_block_header(std::span<const std::byte> bytes,
                                                std::string_view name,
                                                const formats::BlockPlace& place,
                                                const formats::ColumnSpec& column) {
  auto header = formats::decode_block_header(bytes);
  if (!header.ok()) return header.status().with_context(where(name, place.header_offset));
  // A header that is sound in itself may still belong to another block.
  if (formats::stored_header_check(bytes) != place.header_check ||
      header->payload_bytes != place.payload_bytes ||
      header->records.size() != place.record_count) {
    return corrupt(name, place.header_offset,
                   "block header: it is another block's than the index names here");
  }
  if (!is_of_column(header->column, column)) {
    return corrupt(name, place.header_offset,
                   formatted("block header: it belongs to column '{}' and a recipe or shape that "
                             "the manifest does not name",
                             header->column.name));
  }
  return header;
}

Result<formats::BlockFacts> check_block_facts(std::span<const std::byte> bytes,
                                              std::string_view name,
                                              const formats::BlockPlace& place) {
  auto facts = formats::decode_block_facts(bytes);
  if (!facts.ok()) return facts.status().with_context(where(name, place.facts_offset));
  if (formats::stored_facts_check(bytes) != place.facts_check ||
      facts->records.size() != place.record_count) {
    return corrupt(name, place.facts_offset,
                   "facts value: it is another block's than the index names here");
  }
  return facts;
}

Result<std::vector<std::byte>> read_of_shard(const ShardFile& shard, std::uint64_t offset_bytes,
                                             std::uint64_t size_bytes) {
  auto bytes = read_exactly(*shard.file, shard.name, offset_bytes, size_bytes);
  if (bytes.ok() || shard.wrong_length.empty()) return bytes;
  return Status(bytes.status().code(),
                formatted("{} ({})", bytes.status().message(), shard.wrong_length));
}

Result<formats::BlockHeader> read_block_header(const ShardFile& shard,
                                               const formats::BlockPlace& place,
                                               const formats::ColumnSpec& column) {
  XTTS_ASSIGN(const auto bytes,
              read_of_shard(shard, place.header_offset, formats::kBlockHeaderBytes));
  return check_block_header(bytes, shard.name, place, column);
}

Result<formats::BlockFacts> read_block_facts(const ShardFile& shard,
                                             const formats::BlockPlace& place) {
  XTTS_ASSIGN(const auto bytes, read_of_shard(shard, place.facts_offset, place.facts_bytes));
  return check_block_facts(bytes, shard.name, place);
}

Result<std::vector<std::byte>> read_record_region(const ShardFile& shard,
                                                  const formats::BlockPlace& place,
                                                  const formats::BlockHeader& header,
                                                  std::size_t slot) {
  const std::uint64_t offset = place.payload_offset + header.records[slot].offset_bytes;
  XTTS_ASSIGN(auto bytes, read_of_shard(shard, offset, header.region_bytes(slot)));
  if (formats::record_check(header, slot, bytes) != header.records[slot].check) {
    return corrupt(shard.name, offset, "record: its bytes are not those that were written");
  }
  return bytes;
}

}  // namespace xtts::reader
