#include "verify/block_salvage.hpp"

#include "reader/block_reader.hpp"
#include "reader/read_exactly.hpp"

namespace xtts::verify {
namespace {

using formats::BlockHeader;
using formats::BlockPlace;
using Bytes = std::vector<std::byte>;

// Returns nothing for bytes that the disk cannot read: they are as lost as damaged ones.
std::optional<Bytes> read(const DamagedShard& shard, std::uint64_t offset, std::uint64_t size) {
  if (shard.file == nullptr) return std::nullopt;
  auto bytes = reader::read_exactly(*shard.file, shard.name, offset, size);
  return bytes ? std::optional(std::move(*bytes)) : std::nullopt;
}

std::optional<Bytes> read_region(const DamagedShard& shard, const BlockPlace& place,
                                 const BlockHeader& header, std::size_t slot) {
  return read(shard, place.payload_offset + header.records[slot].offset_bytes,
              header.region_bytes(slot));
}

// Returns the wanted header with the records' checks as they lie there, if its own check proves
// it.
std::optional<BlockHeader> proved_header(const DamagedShard& shard, const BlockPlace& place,
                                         BlockHeader wanted) {
  if (wanted.payload_bytes != place.payload_bytes) return std::nullopt;
  for (std::size_t slot = 0; slot < wanted.records.size(); ++slot) {
    const auto region = read_region(shard, place, wanted, slot);
    if (!region) return std::nullopt;
    wanted.records[slot].check = formats::record_check(wanted, slot, *region);
  }
  const auto encoded = formats::encode_block_header(wanted);
  if (formats::stored_header_check(encoded) != place.header_check) return std::nullopt;
  return wanted;
}

std::optional<Bytes> sound_rows(const DamagedShard& shard, const BlockPlace& place,
                                const BlockHeader& header, std::size_t slot) {
  auto region = read_region(shard, place, header, slot);
  if (!region) return std::nullopt;
  if (formats::record_check(header, slot, *region) != header.records[slot].check)
    return std::nullopt;
  region->resize(header.records[slot].length * header.column.row_bytes());
  return region;
}

std::optional<formats::BlockFacts> sound_facts(const DamagedShard& shard, const BlockPlace& place) {
  const auto bytes = read(shard, place.facts_offset, place.facts_bytes);
  if (!bytes) return std::nullopt;
  auto facts = reader::check_block_facts(*bytes, shard.name, place);
  return facts ? std::optional(std::move(*facts)) : std::nullopt;
}

}  // namespace

std::optional<BlockHeader> sound_header(const DamagedShard& shard, const BlockPlace& place,
                                        const formats::ColumnSpec& column) {
  const auto bytes = read(shard, place.header_offset, formats::kBlockHeaderBytes);
  if (!bytes) return std::nullopt;
  auto header = reader::check_block_header(*bytes, shard.name, place, column);
  return header ? std::optional(std::move(*header)) : std::nullopt;
}

SalvagedBlock salvage_block(const DamagedShard& shard, const BlockPlace& place,
                            const BlockHeader& wanted) {
  auto header = sound_header(shard, place, wanted.column);
  if (!header) header = proved_header(shard, place, wanted);
  SalvagedBlock block;
  const BlockHeader& known = header ? *header : wanted;
  for (std::size_t slot = 0; slot < known.records.size(); ++slot) {
    const formats::BlockRecord& record = known.records[slot];
    SalvagedRecord salvaged{
        .id_hash = record.id_hash, .length = record.length, .fill_bits = {}, .rows = {}};
    if (header) {
      salvaged.fill_bits = record.fill_bits;
      salvaged.rows = sound_rows(shard, place, *header, slot);
    }
    block.records.push_back(std::move(salvaged));
  }
  block.facts = sound_facts(shard, place);
  return block;
}

}  // namespace xtts::verify
