#include "verify/stored_records.hpp"

#include "base/try.hpp"
#include "reader/block_reader.hpp"
#include "reader/read_exactly.hpp"

namespace xtts::verify {

Result<StoredRecords::Block> StoredRecords::read_block(std::uint64_t row) {
  Block block{.row = row, .place = {}, .shard = {}, .header = {}, .facts = {}};
  XTTS_ASSIGN(const auto found, index_.block(column_.spec.id, row));
  if (found.shard >= column_.shards.size())
    return Status(StatusCode::kCorrupt, "a block of a shard that the manifest does not name");
  block.place = found.place;
  XTTS_ASSIGN(block.shard, files_.open(column_.spec.id, found.shard));
  XTTS_ASSIGN(block.header, reader::read_block_header(*block.shard, block.place, column_.spec));
  XTTS_ASSIGN(block.facts, reader::read_block_facts(*block.shard, block.place));
  return block;
}

Result<StoredRecord> StoredRecords::read(std::uint64_t position, const Digest& id_hash) {
  XTTS_ASSIGN(const auto location, index_.location(column_.spec.id, position));
  if (location.block_row == formats::kNoRecord) return reader::no_record(column_);
  if (!block_ || block_->row != location.block_row) {
    block_.reset();
    XTTS_ASSIGN(block_, read_block(location.block_row));
  }
  const std::size_t slot = location.slot;
  if (slot >= block_->header.records.size() || block_->header.records[slot].id_hash != id_hash) {
    return reader::corrupt(block_->shard->name, block_->place.header_offset,
                           "the plan leads to another clip's record");
  }
  const formats::BlockRecord& entry = block_->header.records[slot];
  StoredRecord record{.file = block_->shard->name,
                      .offset_bytes = block_->place.payload_offset + entry.offset_bytes,
                      .facts_offset_bytes = block_->place.facts_offset,
                      .numerics = block_->header.column.numerics,
                      .length = entry.length,
                      .fill_bits = entry.fill_bits,
                      .rows = {},
                      .facts = block_->facts.records[slot]};
  XTTS_ASSIGN(record.rows,
              reader::read_record_region(*block_->shard, block_->place, block_->header, slot));
  record.rows.resize(entry.length * column_.spec.row_bytes());
  return record;
}

}  // namespace xtts::verify
