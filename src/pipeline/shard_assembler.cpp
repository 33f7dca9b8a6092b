#include "pipeline/shard_assembler.hpp"

#include "base/try.hpp"
#include "dsp/channel_sums.hpp"
#include "formats/clip_id.hpp"

namespace xtts::pipeline {

ShardAssembler::ShardAssembler(const formats::ColumnSpec& column, formats::StoreKind store,
                               std::uint64_t generation,
                               std::function<void(std::vector<std::byte>)> recycle)
    : column_(column), store_(store), generation_(generation), recycle_(std::move(recycle)) {}

Status ShardAssembler::add(AssembledRecord record) {
  if (!block_.empty()) {
    const formats::RecordFacts& last = block_.back().facts;
    const bool boundary = last.split != record.facts.split || last.dataset != record.facts.dataset;
    if (boundary || block_.size() == column_.geometry().records_per_block) XTTS_TRY(flush());
  }
  block_.push_back(std::move(record));
  return {};
}

Status ShardAssembler::flush() {
  if (block_.empty()) return {};
  if (!image_) {
    XTTS_ASSIGN(image_, store::make_image(column_, store_, generation_));
  }
  formats::BlockFacts facts;
  facts.block_index = image_->block_count();
  std::vector<store::PendingRecord> pending;
  pending.reserve(block_.size());
  for (AssembledRecord& record : block_) {
    pending.push_back({.id_hash = digest128(formats::full_id(record.facts)),
                       .length = record.made.length,
                       .fill_bits = record.made.fill_bits,
                       .rows = record.made.rows});
    facts.records.push_back(std::move(record.facts));
    dsp::add_sums(record.sums, record.made.length, facts);
  }
  XTTS_TRY(image_->add_block(pending, std::move(facts)));
  if (recycle_)
    for (AssembledRecord& record : block_) recycle_(std::move(record.made.rows));
  block_.clear();
  return {};
}

Result<std::unique_ptr<store::ShardImage>> ShardAssembler::end_shard() {
  XTTS_TRY(flush());
  return std::move(image_);
}

}  // namespace xtts::pipeline
