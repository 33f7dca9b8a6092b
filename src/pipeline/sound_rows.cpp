#include "pipeline/sound_rows.hpp"

#include <utility>

#include "base/try.hpp"
#include "dsp/channel_sums.hpp"
#include "records/columns.hpp"

namespace xtts::pipeline {

SoundRows::SoundRows(Env& env, const std::string& cache, reader::CacheView* previous,
                     const std::vector<store::JournalShard>& sealed, std::size_t column_count)
    : previous_(previous), sealed_(sealed) {
  for (std::size_t column = 0; column < column_count; ++column)
    columns_.push_back({.records = SealedRecords(env, cache, sealed, column)});
}

Status SoundRows::begin(std::uint64_t generation) {
  for (std::uint32_t id = 0; previous_ != nullptr && id < count(); ++id) {
    XTTS_TRY(take_over(*previous_, id, columns_[id].rows));
    columns_[id].published_block_count = columns_[id].rows.block_count;
  }
  for (const store::JournalShard& shard : sealed_) {
    for (std::size_t column = 0; column < shard.sealed.size(); ++column)
      columns_[column].rows.add_shard(shard.sealed[column], generation);
  }
  if (previous_ != nullptr) still_used_.assign(previous_->size(), false);
  return {};
}

Status SoundRows::add_published(std::uint64_t position) {
  for (std::uint32_t id = 0; id < count(); ++id) {
    XTTS_ASSIGN(const auto location, previous_->location(id, position));
    append_row(location, columns_[id].rows.locations);
  }
  still_used_[position] = true;
  return {};
}

Result<std::optional<SealedRecords::Record>> SoundRows::add_sealed(const Digest& id_hash) {
  for (std::size_t id = 0; id < columns_.size(); ++id) {
    Column& column = columns_[id];
    if (!column.next) {
      XTTS_ASSIGN(column.next, column.records.next());
    }
    if (column.next && column.next->id_hash == id_hash) continue;
    if (id == records::kMainId) return std::optional<SealedRecords::Record>();
    return Status(StatusCode::kInternal, "its columns hold other clips");
  }
  for (Column& column : columns_) {
    append_row(formats::LocationRow{.block_row = static_cast<std::uint32_t>(
                                        column.published_block_count + column.next->block),
                                    .slot = column.next->slot},
               column.rows.locations);
  }
  auto main = std::exchange(columns_[records::kMainId].next, std::nullopt);
  for (Column& column : columns_) column.next.reset();
  return main;
}

Status SoundRows::check_all_are_named() const {
  const auto& left = columns_[records::kMainId].next;
  if (!left) return {};
  return {StatusCode::kInternal, "a sealed record belongs to no planned clip: " + *left->facts.id};
}

std::vector<std::uint64_t> SoundRows::left_positions() const {
  std::vector<std::uint64_t> left;
  for (std::uint64_t position = 0; position < still_used_.size(); ++position)
    if (!still_used_[position]) left.push_back(position);
  return left;
}

Status SoundRows::leave_behind(std::uint64_t position, Tombstones& tombstones) const {
  for (std::uint32_t id = 0; id < count(); ++id) {
    XTTS_ASSIGN(const auto location, previous_->location(id, position));
    tombstones.add({.column_id = id, .block_row = location.block_row, .slot = location.slot});
  }
  return {};
}

std::optional<formats::Statistics> SoundRows::statistics() const {
  const SealedRecords& main = columns_[records::kMainId].records;
  return dsp::statistics_of(main.train_frame_count(), main.train_sums());
}

}  // namespace xtts::pipeline
