#include "pipeline/added_columns.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace xtts::pipeline {

Result<AddedColumns> AddedColumns::take_over(reader::CacheView& previous) {
  AddedColumns taken;
  taken.previous_ = &previous;
  for (const formats::ColumnEntry& entry : previous.manifest().columns) {
    if (!entry.axis) continue;
    Column column;
    column.entry = entry;
    XTTS_TRY(pipeline::take_over(previous, entry.spec.id, column.rows));
    taken.columns_.push_back(std::move(column));
  }
  return taken;
}

AddedColumns::AddedColumns(Env& env, const std::string& cache,
                           const std::vector<AddedColumn>& added, std::uint64_t generation) {
  for (const AddedColumn& one : added) {
    Column column;
    column.entry = one.entry;
    for (const auto& shard : one.shards) {
      if (!shard.sealed.empty()) column.rows.add_shard(shard.sealed.front(), generation);
    }
    column.records.emplace_back(env, cache, one.shards);
    columns_.push_back(std::move(column));
  }
}

bool AddedColumns::has(std::uint32_t column_id) const noexcept {
  return std::ranges::any_of(
      columns_, [&](const Column& column) { return column.entry.spec.id == column_id; });
}

void AddedColumns::add_none(Column& column) {
  append_row(formats::LocationRow{.block_row = formats::kNoRecord, .slot = 0},
             column.rows.locations);
  ++column.missing_count;
}

Status AddedColumns::add_published(std::uint64_t position, bool is_another,
                                   Tombstones& tombstones) {
  for (Column& column : columns_) {
    const std::uint32_t id = column.entry.spec.id;
    XTTS_ASSIGN(const auto location, previous_->location(id, position));
    if (location.block_row != formats::kNoRecord && !is_another) {
      append_row(location, column.rows.locations);
      continue;
    }
    add_none(column);
    if (location.block_row != formats::kNoRecord)
      tombstones.add({.column_id = id, .block_row = location.block_row, .slot = location.slot});
  }
  return {};
}

Status AddedColumns::add_new(const Digest& id_hash) {
  for (Column& column : columns_) {
    if (!column.next && !column.records.empty()) {
      XTTS_ASSIGN(column.next, column.records.front().next());
    }
    if (!column.next || column.next->id_hash != id_hash) {
      add_none(column);
      continue;
    }
    append_row(formats::LocationRow{.block_row = column.next->block, .slot = column.next->slot},
               column.rows.locations);
    column.next.reset();
  }
  return {};
}

Status AddedColumns::leave_behind(std::uint64_t position, Tombstones& tombstones) {
  for (const Column& column : columns_) {
    const std::uint32_t id = column.entry.spec.id;
    XTTS_ASSIGN(const auto location, previous_->location(id, position));
    if (location.block_row == formats::kNoRecord) continue;
    tombstones.add({.column_id = id, .block_row = location.block_row, .slot = location.slot});
  }
  return {};
}

Status AddedColumns::write(const WriteColumn& write_column) const {
  for (const Column& column : columns_) {
    if (column.next) {
      return {StatusCode::kInternal,
              "a sealed record belongs to no clip: " + column.next->facts.id.value_or("")};
    }
    XTTS_TRY(write_column(column.entry.spec.id, column.rows));
  }
  return {};
}

void AddedColumns::describe(formats::Manifest& manifest) const {
  for (const Column& column : columns_) {
    formats::ColumnEntry entry = column.entry;
    entry.shards = column.rows.shards;
    entry.missing_count = column.missing_count;
    manifest.columns.push_back(std::move(entry));
  }
}

}  // namespace xtts::pipeline
