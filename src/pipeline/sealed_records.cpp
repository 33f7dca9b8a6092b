#include "pipeline/sealed_records.hpp"

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/manifest.hpp"
#include "reader/read_exactly.hpp"

namespace xtts::pipeline {

SealedRecords::SealedRecords(Env& env, std::string cache,
                             const std::vector<store::JournalShard>& shards, std::size_t column)
    : env_(env), cache_(std::move(cache)), shards_(shards), column_(column) {}

Result<std::optional<SealedRecords::Record>> SealedRecords::next() {
  if (!begun_ || slot_ == header_.records.size()) {
    XTTS_ASSIGN(const bool more, read_next_block());
    if (!more) return std::optional<Record>();
  }
  const formats::BlockRecord& record = header_.records[slot_];
  Record result{.id_hash = record.id_hash,
                .length = record.length,
                .block = block_ - 1,
                .slot = static_cast<std::uint16_t>(slot_),
                .facts = std::move(facts_.records[slot_])};
  ++slot_;
  return std::optional<Record>(std::move(result));
}

bool SealedRecords::is_at_shards_end() const {
  const auto& sealed = shards_[shard_].sealed;
  return sealed.empty() || block_in_shard_ == sealed[column_].table.blocks.size();
}

Result<bool> SealedRecords::read_next_block() {
  while (shard_ < shards_.size() && is_at_shards_end()) {
    ++shard_;
    block_in_shard_ = 0;
    file_.reset();
  }
  if (shard_ == shards_.size()) return false;
  const store::SealedShard& shard = shards_[shard_].sealed[column_];
  const std::string path = store::shard_path(cache_, shard);
  if (!file_) {
    XTTS_ASSIGN(file_, env_.open_for_read(path));
  }
  const formats::BlockPlace& place = shard.table.blocks[block_in_shard_];
  XTTS_ASSIGN(const auto header_bytes,
              reader::read_exactly(*file_, path, place.header_offset, formats::kBlockHeaderBytes));
  XTTS_ASSIGN(header_, formats::decode_block_header(header_bytes));
  XTTS_ASSIGN(const auto facts_bytes,
              reader::read_exactly(*file_, path, place.facts_offset, place.facts_bytes));
  XTTS_ASSIGN(facts_, formats::decode_block_facts(facts_bytes));
  if (formats::stored_header_check(header_bytes) != place.header_check ||
      formats::stored_facts_check(facts_bytes) != place.facts_check ||
      facts_.records.size() != header_.records.size()) {
    return Status(StatusCode::kCorrupt,
                  formatted("{}: block {} is not the one that was sealed", path, block_in_shard_));
  }
  if (facts_.records.front().split == std::uint8_t{0}) train_sums_.add(facts_);
  begun_ = true;
  slot_ = 0;
  ++block_in_shard_;
  ++block_;
  return true;
}

}  // namespace xtts::pipeline
