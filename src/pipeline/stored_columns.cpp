#include "pipeline/stored_columns.hpp"

#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "dsp/channel_sums.hpp"
#include "pipeline/index_build.hpp"
#include "records/columns.hpp"

namespace xtts::pipeline {

using formats::LocationRow;
using Record = SealedRecords::Record;

Result<StoredColumns> StoredColumns::open(const IndexJob& job, const std::string& cache) {
  StoredColumns all(job.previous);
  if (job.previous != nullptr) all.is_named_.assign(job.previous->size(), false);
  // `place`: the column's place among the sealed columns of each shard.
  const auto add = [&](formats::ColumnEntry entry, const std::vector<store::JournalShard>* sealed,
                       std::size_t place = 0) -> Status {
    Column column{.indexed = {.entry = std::move(entry), .rows = {}}};
    column.indexed.entry.missing_count = 0;
    ColumnRows& rows = column.indexed.rows;
    if (job.previous != nullptr)
      XTTS_TRY(take_over(*job.previous, column.indexed.entry.spec.id, rows));
    column.published_block_count = rows.block_count;
    if (sealed != nullptr) {
      for (const store::JournalShard& shard : *sealed)
        if (!shard.sealed.empty()) rows.add_shard(shard.sealed[place], job.generation);
      column.sealed.emplace(job.env, cache, *sealed, place);
    }
    all.columns_.push_back(std::move(column));
    return {};
  };
  for (const formats::ColumnSpec& column : job.columns)
    XTTS_TRY(add(records::entry_of(column, job.recipe), &job.shards, all.columns_.size()));
  if (job.previous != nullptr) {
    for (const formats::ColumnEntry& entry : job.previous->manifest().columns)
      if (entry.axis) XTTS_TRY(add(entry, nullptr));
  } else {
    for (const AddedColumn& added : job.added) XTTS_TRY(add(added.entry, &added.shards));
  }
  return all;
}

void StoredColumns::Column::add_location(LocationRow location) {
  if (location.block_row == formats::kNoRecord) ++indexed.entry.missing_count;
  append_row(location, indexed.rows.locations);
}

bool StoredColumns::has(std::uint32_t column_id) const noexcept {
  return std::ranges::any_of(
      columns_, [&](const Column& column) { return column.indexed.entry.spec.id == column_id; });
}

Status StoredColumns::add_published(std::uint64_t position, bool is_another,
                                    Tombstones& tombstones) {
  is_named_[position] = true;
  for (Column& column : columns_) {
    const std::uint32_t id = column.indexed.entry.spec.id;
    XTTS_ASSIGN(LocationRow location, previous_->location(id, position));
    if (column.is_added() && is_another) {
      tombstones.add(id, location);
      location = {.block_row = formats::kNoRecord, .slot = 0};
    }
    column.add_location(location);
  }
  return {};
}

Result<std::optional<Record>> StoredColumns::add_sealed(const Digest& id_hash) {
  const auto is_next = [&](const Column& column) {
    return column.next && column.next->id_hash == id_hash;
  };
  for (Column& column : columns_) {
    if (!column.next && column.sealed) {
      XTTS_ASSIGN(column.next, column.sealed->next());
    }
    if (is_next(column) || column.is_added()) continue;
    if (column.indexed.entry.spec.id == records::kMainId) return std::optional<Record>();
    return Status(StatusCode::kInternal, "its columns hold other clips");
  }
  std::optional<Record> main;
  for (Column& column : columns_) {
    if (!is_next(column)) {
      column.add_location({.block_row = formats::kNoRecord, .slot = 0});
      continue;
    }
    const std::uint64_t block_row = column.published_block_count + column.next->block;
    column.add_location(
        {.block_row = static_cast<std::uint32_t>(block_row), .slot = column.next->slot});
    auto record = std::exchange(column.next, std::nullopt);
    if (!main) main = std::move(record);
  }
  return main;
}

Status StoredColumns::add_remaining_tombstones(Tombstones& tombstones) const {
  for (std::uint64_t position = 0; position < is_named_.size(); ++position) {
    if (is_named_[position]) continue;
    for (const Column& column : columns_) {
      const std::uint32_t id = column.indexed.entry.spec.id;
      XTTS_ASSIGN(const LocationRow location, previous_->location(id, position));
      tombstones.add(id, location);
    }
  }
  return {};
}

std::optional<formats::Statistics> StoredColumns::statistics() const {
  return dsp::statistics_of(columns_.front().sealed->train_sums());
}

Result<std::vector<IndexedColumn>> StoredColumns::finish() {
  std::vector<IndexedColumn> indexed;
  for (Column& column : columns_) {
    if (column.next) {
      return Status(StatusCode::kInternal, "a sealed record belongs to no planned clip: " +
                                               column.next->facts.id.value_or(""));
    }
    indexed.push_back(std::move(column.indexed));
  }
  return indexed;
}

}  // namespace xtts::pipeline
