#include "maintain/merge.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/check_cancelled.hpp"
#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "formats/sound_columns.hpp"
#include "maintain/left_over.hpp"
#include "maintain/parts.hpp"
#include "maintain/published_clips.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/index_build.hpp"
#include "reader/cache_paths.hpp"
#include "reader/repair_advice.hpp"
#include "records/columns.hpp"
#include "store/cache_folder.hpp"
#include "store/source_table.hpp"

namespace xtts::maintain {
namespace {

using formats::Manifest;
using store::SealedShard;

// One part's shards of a sound column, one after the other. The whole cache's shards are those of
// all parts.
class ShardsOfPart {
 public:
  ShardsOfPart(reader::CacheView& view, std::uint32_t column) : view_(view), column_(column) {}

  [[nodiscard]] const std::vector<formats::ShardEntry>& entries() const {
    return view_.manifest().columns[column_].shards;
  }
  [[nodiscard]] bool is_at_end() const { return next_ == entries().size(); }
  [[nodiscard]] std::string path() const {
    return join_path(view_.path(), reader::shard_name(view_.manifest().columns[column_], next_));
  }

  // True where the next shard holds the record.
  Result<bool> holds(std::uint64_t position) {
    XTTS_ASSIGN(const auto location, view_.location(column_, position));
    XTTS_ASSIGN(const auto block, view_.block(column_, location.block_row));
    return block.shard == next_;
  }

  // Describes the next shard as it is in the part.
  Result<SealedShard> describe() {
    const formats::ColumnEntry& column = view_.manifest().columns[column_];
    const formats::ShardEntry& entry = column.shards[next_];
    SealedShard shard{.column = column.spec.name,
                      .store = column.store,
                      .ordinal = next_,
                      .record_count = entry.record_count,
                      .digest = entry.digest,
                      .table = {}};
    shard.table.file_bytes = entry.file_bytes;
    shard.table.structure_check = entry.structure_check;
    for (std::uint32_t i = 0; i < entry.block_count; ++i) {
      XTTS_ASSIGN(const auto row, view_.block(column_, next_block_ + i));
      shard.table.blocks.push_back(row.place);
    }
    if (shard.table.digest() != shard.digest)
      return reader::with_repair(
          Status(StatusCode::kCorrupt,
                 path() + ": the index tells of another shard than the manifest"),
          view_.path());
    return shard;
  }

  void advance() { next_block_ += entries()[next_++].block_count; }

 private:
  reader::CacheView& view_;
  std::uint32_t column_;
  std::uint32_t next_ = 0;
  std::uint64_t next_block_ = 0;
};

class Merger {
 public:
  Merger(Env& env, const MergeRequest& request, const Parts& parts, const PublishedClips& clips,
         store::CacheFolder& to)
      : env_(env), request_(request), parts_(parts), clips_(clips), to_(to) {}

  Result<MergeReport> run() {
    const Manifest& first = parts_.front()->manifest();
    XTTS_ASSIGN(const formats::Recipe recipe, formats::recipe_of(first));
    const std::size_t count = formats::sound_columns_of(*recipe.features).size();
    for (std::size_t column = 0; column < count; ++column)
      columns_.push_back(first.columns[column].spec);
    // Takes the planned shards in order, each from the part that made it.
    std::vector<store::JournalShard> shards;
    for (const formats::ColumnSpec& column : columns_) XTTS_TRY(adopt_column(column, shards));
    XTTS_ASSIGN(const auto result, pipeline::build_index({.env = env_,
                                                          .plan = clips_.plan,
                                                          .recipe = recipe,
                                                          .numerics = first.numerics,
                                                          .columns = columns_,
                                                          .shards = shards,
                                                          .rejects = clips_.rejects,
                                                          .known_speakers = first.speakers,
                                                          .known_languages = first.languages},
                                                         to_));
    XTTS_TRY(to_.publish(result.manifest, result.rejects_jsonl));
    // A link leads to bytes that were verified when they were sealed; a copy has new bytes.
    const bool is_copy = report_.copied_count > 0;
    XTTS_TRY(verify_written(env_, to_.path(),
                            is_copy ? verify::Level::kFull : verify::Level::kQuick, request_.run));
    return end(result.manifest);
  }

  // Does what a run that died after it had published has not done. It may have copied shards.
  Result<MergeReport> complete(const Manifest& published) {
    XTTS_TRY(verify_written(env_, to_.path(), verify::Level::kFull, request_.run));
    XTTS_TRY(to_.collect_garbage(&published, {}));
    report_.is_completed = true;
    for (const auto& column : published.columns)
      if (formats::find_sound_column(column.spec.name) != nullptr)
        report_.shard_count += static_cast<std::uint32_t>(column.shards.size());
    return end(published);
  }

 private:
  Result<MergeReport> end(const Manifest& published) {
    XTTS_TRY(copy_source_table(published.index_digest));
    XTTS_TRY(to_.finish());
    report_.part_count = parts_.size();
    report_.record_count = published.counts.records;
    report_.reject_count = clips_.rejects.size();
    report_.cache_bytes = reader::cache_bytes(published);
    return report_;
  }

  Status adopt_column(const formats::ColumnSpec& column, std::vector<store::JournalShard>& shards) {
    std::vector<ShardsOfPart> sources;
    for (const auto& part : parts_) sources.emplace_back(*part, column.id);
    const auto& to_compute = clips_.plan.to_compute;
    const std::size_t per_shard = records::clips_per_shard(columns_);
    shards.resize((to_compute.size() + per_shard - 1) / per_shard);
    std::uint64_t ordinal = 0;
    for (std::size_t planned = 0; planned < shards.size(); ++planned) {
      XTTS_TRY(check_cancelled(request_.run.cancelled));
      const std::size_t begin = planned * per_shard;
      const std::size_t size = std::min(per_shard, to_compute.size() - begin);
      XTTS_ASSIGN(auto sealed, adopt(std::span(to_compute).subspan(begin, size), ordinal, sources));
      shards[planned].planned_shard = planned;
      if (sealed) shards[planned].sealed.push_back(std::move(*sealed));
      if (request_.run.progress) request_.run.progress("clips", begin + size, to_compute.size());
    }
    for (const ShardsOfPart& source : sources) {
      if (!source.is_at_end()) return contradiction();
    }
    report_.shard_count += static_cast<std::uint32_t>(ordinal);
    return {};
  }

  // Returns nothing if all of its clips were rejected. `ordinal`: the next shard's number in the
  // column.
  Result<std::optional<SealedShard>> adopt(std::span<const std::uint32_t> planned,
                                           std::uint64_t& ordinal,
                                           std::vector<ShardsOfPart>& sources) {
    std::optional<std::size_t> part;
    std::uint64_t stored_count = 0;
    for (const std::uint32_t clip : planned) {
      const auto& place = clips_.places[clip];
      if (!place) continue;
      if (!part) part = place->part;
      if (place->part != *part || sources[*part].is_at_end()) return contradiction();
      XTTS_ASSIGN(const bool held, sources[*part].holds(place->position));
      if (!held) return contradiction();
      ++stored_count;
    }
    if (!part) return std::optional<SealedShard>();
    ShardsOfPart& source = sources[*part];
    XTTS_ASSIGN(SealedShard shard, source.describe());
    if (shard.record_count != stored_count) return contradiction();
    const std::string from = source.path();
    shard.ordinal = ordinal++;
    XTTS_ASSIGN(const bool is_copy, to_.adopt(shard, from));
    if (is_copy) ++report_.copied_count;
    source.advance();
    return std::optional(std::move(shard));
  }

  static Status contradiction() {
    return {StatusCode::kMismatch, formatted("the parts' shards are not those of one plan: build "
                                             "the parts anew with {}, all by the same version",
                                             option_on("overwrite"))};
  }

  // Passes on the source tables of parts that saw the very same files, so that the next build need
  // not hash these sources again.
  Status copy_source_table(const Digest& index_digest) {
    std::optional<store::SourceTable> all;
    for (const auto& part : parts_) {
      auto table = store::load_source_table(env_, part->path());
      if (!table) return {};
      if (!all) {
        all = std::move(table);
        continue;
      }
      if (table->data != all->data) return {};
      if (table->plan_digest != all->plan_digest) {
        // Parts of a plan have rows of their own clips, other parts of all clips.
        all->rows.insert(all->rows.end(), table->rows.begin(), table->rows.end());
        all->plan_digest = {};
        continue;
      }
      if (table->rows.size() != all->rows.size()) return {};
      for (std::size_t i = 0; i < all->rows.size(); ++i)
        if (table->rows[i].reject_check != 0) {
          all->rows[i].reject_check = table->rows[i].reject_check;
          all->rows[i].content = table->rows[i].content;
        }
    }
    if (all->rows.size() != clips_.plan.clips.size()) return {};
    all->index_digest = index_digest;
    return store::save_source_table(to_, std::move(*all));
  }

  Env& env_;
  const MergeRequest& request_;
  const Parts& parts_;
  const PublishedClips& clips_;
  store::CacheFolder& to_;
  std::vector<formats::ColumnSpec> columns_;  // made of sound
  MergeReport report_;
};

// True where the cache was merged from these parts: it has their shards of sound, and no other.
bool is_merge_of(const Parts& parts, const Manifest& merged) {
  std::multiset<Digest> of_parts;
  for (const auto& part : parts)
    for (const auto& shard : part->manifest().columns.front().shards) of_parts.insert(shard.digest);
  std::multiset<Digest> of_merged;
  for (const auto& shard : merged.columns.front().shards) of_merged.insert(shard.digest);
  return of_parts == of_merged && merged.generation == 1 && !merged.partition;
}

}  // namespace

Result<MergeReport> merge(Env& whole_env, const MergeRequest& request) {
  if (request.parts.empty())
    return Status(StatusCode::kInvalidArgument,
                  "no parts are named: xtts-precompute merge NEW PART...");
  auto confined = confined_to(whole_env, request.to, Links::kNone);
  for (const std::string& part : request.parts)
    confined = confined_to(*confined, part, Links::kNone);
  Env& env = *confined;
  const auto left = published_and_left(env, request.to);
  if (!left) XTTS_TRY(check_target(env, request.to));
  XTTS_ASSIGN(const auto parts, open_parts(env, request.parts, request.allow_mixed));
  if (left && !is_merge_of(parts, left->manifest())) XTTS_TRY(check_target(env, request.to));
  XTTS_ASSIGN(const auto clips, published_clips(parts));
  std::uint64_t record_count = 0;
  for (const auto& part : parts) record_count += part->size();
  XTTS_TRY(pipeline::check_rejects(clips.rejects, request.max_rejects, clips.plan.clips.size()));
  XTTS_TRY(pipeline::check_any_clip(clips.rejects, record_count));
  XTTS_ASSIGN(const auto folder,
              store::CacheFolder::open(env, request.to, lease_callbacks_of(request.run)));
  Merger merger(env, request, parts, clips, *folder);
  if (left) return merger.complete(left->manifest());
  XTTS_TRY(folder->collect_garbage(nullptr, {}));  // from an interrupted merge
  auto report = merger.run();
  if (!report) remove_unpublished(*folder);
  return report;
}

}  // namespace xtts::maintain
