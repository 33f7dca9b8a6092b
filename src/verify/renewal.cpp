#include "verify/renewal.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/try.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/sound_columns.hpp"
#include "reader/cache_paths.hpp"
#include "store/source_table.hpp"

namespace xtts::verify {
namespace {

// The place of a record in its column.
struct RecordSpot {
  std::uint64_t row = 0;
  std::size_t slot = 0;
};

class Renewer {
 public:
  Renewer(const RenewalJob& job, std::vector<ShardPlace> places)
      : job_(job), places_(std::move(places)) {}

  Result<Renewal> run() {
    XTTS_ASSIGN(const auto recipe, formats::recipe_of(job_.manifest));
    sound_count_ = formats::sound_columns_of(*recipe.features).size();
    XTTS_ASSIGN(const auto generations, job_.folder.generations());
    result_.generation = generations.newest + 1;
    result_.manifest = job_.manifest;
    result_.manifest.generation = result_.generation;
    list_dead_shards();
    for (std::size_t column = 0; column < job_.plan.columns.size(); ++column)
      XTTS_TRY(renew_column(column));
    if (result_.shards.empty()) return Renewal();
    XTTS_TRY(keep_tombstones());
    XTTS_TRY(publish());
    return std::move(result_);
  }

 private:
  [[nodiscard]] const ColumnPlan& column_plan(std::size_t column) const {
    return job_.plan.columns[column];
  }

  [[nodiscard]] std::uint64_t live_count(const ShardPlace& place) const {
    const ColumnPlan& column = column_plan(place.column);
    std::uint64_t count = 0;
    for (std::uint64_t row = column.first_row_of_shard[place.ordinal];
         row < column.first_row_of_shard[place.ordinal + 1]; ++row) {
      for (std::size_t slot = 0; slot < column.rows[row]->place.record_count; ++slot)
        count += column.owner(row, slot) < job_.plan.clips.size() ? 1U : 0U;
    }
    return count;
  }

  // Columns of sound hold the same clips in shards of the same number, so they lose shards
  // together.
  void list_dead_shards() {
    for (const ShardPlace& place : places_) {
      if (live_count(place) > 0) continue;
      if (place.column >= sound_count_) {
        dead_.push_back(place);
        continue;
      }
      for (std::size_t column = 0; column < sound_count_; ++column)
        dead_.push_back({column, place.ordinal});
    }
    std::ranges::sort(dead_);
    dead_.erase(std::unique(dead_.begin(), dead_.end()), dead_.end());
  }

  [[nodiscard]] bool is_dead(const ShardPlace& place) const {
    return std::ranges::binary_search(dead_, place);
  }

  Status renew_column(std::size_t column) {
    const auto is_of_column = [&](const ShardPlace& place) { return place.column == column; };
    if (std::ranges::none_of(places_, is_of_column) && std::ranges::none_of(dead_, is_of_column))
      return {};
    std::vector<std::uint32_t> ordinals(column_plan(column).entry->shards.size());
    std::iota(ordinals.begin(), ordinals.end(), 0U);
    for (std::size_t i = ordinals.size(); i-- > 0;) {
      if (!is_dead({column, static_cast<std::uint32_t>(i)})) continue;
      ordinals[i] = ordinals.back();
      ordinals.pop_back();
    }
    pipeline::ColumnRows rows;
    std::map<std::uint64_t, std::vector<std::optional<RecordSpot>>> spots;  // by row of before
    bool is_changed = ordinals.size() != column_plan(column).entry->shards.size();
    for (std::uint32_t after = 0; after < ordinals.size(); ++after) {
      const ShardPlace before{column, ordinals[after]};
      const bool is_asked = std::ranges::find(places_, before) != places_.end();
      bool is_renewed = false;
      if (is_asked) {
        XTTS_ASSIGN(is_renewed, renew_shard_at(before, after, rows, spots));
      }
      if (!is_renewed) XTTS_TRY(keep_shard(before, after, rows, spots));
      is_changed = is_changed || is_renewed;
    }
    for (const ShardPlace& place : dead_)
      if (is_of_column(place)) add_result({.before = place, .after = place});
    if (!is_changed) return {};
    XTTS_TRY(locate(column, spots, rows));
    result_.manifest.columns[column].shards = rows.shards;
    changes_.columns.emplace(column_plan(column).entry->spec.id, std::move(rows));
    spots_.emplace(column, std::move(spots));
    return {};
  }

  using Spots = std::map<std::uint64_t, std::vector<std::optional<RecordSpot>>>;

  void add_result(RenewedShard shard) {
    shard.name_before =
        reader::shard_name(*column_plan(shard.before.column).entry, shard.before.ordinal);
    result_.shards.push_back(std::move(shard));
  }

  // Returns false if there is an obstacle.
  Result<bool> renew_shard_at(const ShardPlace& before, std::uint32_t after,
                              pipeline::ColumnRows& rows, Spots& spots) {
    const ShardRepairJob repair = job_.repair_job(before);
    XTTS_ASSIGN(const RemadeShard made, renew_shard(repair, result_.generation));
    for (const Obstacle& obstacle : made.obstacles) job_.report_obstacle(before, obstacle);
    if (!made.image) return false;
    const ColumnPlan& column = column_plan(before.column);
    XTTS_ASSIGN(const auto sealed, job_.folder.seal(column.entry->spec.name, after, made.finished));
    std::vector<RecordSpot> live;  // in the order of before
    for (std::size_t block = 0; block < sealed.table.blocks.size(); ++block) {
      for (std::size_t slot = 0; slot < sealed.table.blocks[block].record_count; ++slot)
        live.push_back({rows.block_count + block, slot});
    }
    auto next = live.begin();
    for (std::uint64_t row = column.first_row_of_shard[before.ordinal];
         row < column.first_row_of_shard[before.ordinal + 1]; ++row) {
      auto& of_row = spots[row];
      of_row.resize(column.rows[row]->place.record_count);
      for (std::size_t slot = 0; slot < of_row.size(); ++slot)
        if (column.owner(row, slot) < job_.plan.clips.size() && next != live.end())
          of_row[slot] = *next++;
    }
    rows.add_shard(sealed, result_.generation);
    add_result({.before = before,
                .after = {before.column, after},
                .live_count = live.size(),
                .recomputed_count = made.recomputed_count});
    return true;
  }

  Status keep_shard(const ShardPlace& before, std::uint32_t after, pipeline::ColumnRows& rows,
                    Spots& spots) {
    const ColumnPlan& column = column_plan(before.column);
    const formats::ShardEntry& entry = column.entry->shards[before.ordinal];
    if (after != before.ordinal) {
      const std::string path = job_.run.path_of(reader::shard_name(*column.entry, before.ordinal));
      const auto linked = job_.folder.adopt({.column = column.entry->spec.name,
                                             .store = column.entry->store,
                                             .ordinal = after,
                                             .record_count = entry.record_count,
                                             .digest = entry.digest,
                                             .table = {}},
                                            path);
      if (!linked) return linked.status();
    }
    for (std::uint64_t row = column.first_row_of_shard[before.ordinal];
         row < column.first_row_of_shard[before.ordinal + 1]; ++row) {
      const formats::BlockPlace& place = column.rows[row]->place;
      auto& of_row = spots[row];
      for (std::size_t slot = 0; slot < place.record_count; ++slot)
        of_row.push_back(RecordSpot{rows.block_count, slot});
      append_row(formats::BlockRow{.place = place, .shard = after}, rows.block_rows);
      ++rows.block_count;
    }
    rows.shards.push_back(entry);
    return {};
  }

  Status locate(std::size_t column, const Spots& spots, pipeline::ColumnRows& rows) {
    const std::uint32_t id = column_plan(column).entry->spec.id;
    for (std::uint64_t position = 0; position < job_.plan.clips.size(); ++position) {
      XTTS_ASSIGN(auto location, job_.index.location(id, static_cast<std::uint32_t>(position)));
      if (location.block_row != formats::kNoRecord) {
        const auto& spot = spots.at(location.block_row)[location.slot];
        if (!spot) return {StatusCode::kInternal, "a clip's record was left behind"};
        location = {.block_row = static_cast<std::uint32_t>(spot->row),
                    .slot = static_cast<std::uint16_t>(spot->slot)};
      }
      append_row(location, rows.locations);
    }
    return {};
  }

  // Keeps the tombstones of shards that stay.
  Status keep_tombstones() {
    for (std::uint64_t i = 0; i < job_.index.row_count(formats::SectionKind::kTombstones); ++i) {
      XTTS_ASSIGN(formats::TombstoneRow row, job_.index.tombstone(i));
      for (const auto& [column, spots] : spots_) {
        if (column_plan(column).entry->spec.id != row.column_id) continue;
        const auto found = spots.find(row.block_row);
        if (found == spots.end() || !found->second[row.slot]) {
          row.column_id = kNoOwner;
          break;
        }
        row.block_row = static_cast<std::uint32_t>(found->second[row.slot]->row);
        row.slot = static_cast<std::uint16_t>(found->second[row.slot]->slot);
        break;
      }
      if (row.column_id == kNoOwner) continue;
      changes_.tombstones.add(row);
    }
    return {};
  }

  Status publish() {
    XTTS_TRY(pipeline::write_copied_index(job_.run.env, job_.manifest, changes_, job_.folder,
                                          result_.manifest));
    // Another damaged shard may exist that could not be mended. It stays as it is and is reported.
    XTTS_ASSIGN(const std::string text, formats::encode_manifest(result_.manifest));
    XTTS_TRY(store::replace_manifest(job_.folder, text));
    // With this table the next build need not hash the sources again.
    auto sources = store::load_source_table(job_.run.env, job_.run.cache);
    if (!sources || sources->index_digest != job_.manifest.index_digest) return {};
    sources->index_digest = result_.manifest.index_digest;
    return store::save_source_table(job_.folder, std::move(*sources));
  }

  const RenewalJob& job_;
  const std::vector<ShardPlace> places_;
  std::size_t sound_count_ = 0;
  std::vector<ShardPlace> dead_;  // shards without a live record, ascending
  pipeline::CopiedIndex changes_;
  std::map<std::size_t, Spots> spots_;  // by column
  Renewal result_;
};

}  // namespace

Result<Renewal> renew_shards(const RenewalJob& job, std::vector<ShardPlace> places) {
  return Renewer(job, std::move(places)).run();
}

}  // namespace xtts::verify
