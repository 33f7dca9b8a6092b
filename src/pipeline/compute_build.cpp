#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/recipe.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/build_phases.hpp"
#include "pipeline/losses.hpp"
#include "pipeline/sound_columns.hpp"

namespace xtts::pipeline {
namespace {

// Chooses a number above every generation that was published here, also those that --overwrite
// replaces. A part of a partition is never updated, and merge joins parts of one generation: it
// stays 1.
Result<std::uint64_t> choose_generation(const BuildJob& job, store::CacheFolder& folder) {
  if (job.request.partition) return std::uint64_t{1};
  XTTS_ASSIGN(const auto generations, folder.generations());
  return generations.newest + 1;
}

Result<bool> is_intact(const store::JournalShard& shard, std::uint64_t planned_shard,
                       std::size_t column_count, store::CacheFolder& folder) {
  if (shard.planned_shard != planned_shard) return false;
  if (!shard.sealed.empty() && shard.sealed.size() != column_count) return false;
  for (const store::SealedShard& sealed : shard.sealed) {
    XTTS_ASSIGN(const bool intact, folder.is_intact(sealed));
    if (!intact) return false;
  }
  return true;
}

// Keeps the shards before the first one that differs from its journal entry. Planned shards are
// sealed in order, so all later ones are computed again.
Status keep_intact_prefix(std::size_t column_count, store::CacheFolder& folder,
                          std::vector<store::JournalShard>& shards) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    XTTS_ASSIGN(const bool intact, is_intact(shards[i], i, column_count, folder));
    if (!intact) shards.resize(i);
  }
  return {};
}

Result<store::Journal::Opened> open_journal(const BuildJob& job, const CacheState& cache_state,
                                            const Planned& planned, std::uint64_t generation,
                                            store::CacheFolder& folder) {
  XTTS_ASSIGN(
      auto journal,
      store::Journal::open(job.env, folder,
                           {.plan = planned.plan.to_compute_digest,
                            .features_fingerprint = planned.columns.front().fingerprint,
                            .storage_fingerprint = formats::fingerprint(job.request.recipe.storage),
                            .numerics = planned.numerics.hash(),
                            .generation = generation}));
  XTTS_TRY(keep_intact_prefix(planned.columns.size(), folder, journal.shards));
  if (cache_state.is_garbage_known)
    XTTS_TRY(folder.collect_garbage(cache_state.published(), sealed_of(journal.shards)));
  return journal;
}

// Checks the losses before the build spends hours on what it would not publish.
Status check_known_losses(const BuildJob& job, const CacheState& cache_state,
                          const BuildPlan& plan) {
  const BuildRequest& request = job.request;
  if (cache_state.previous)
    XTTS_TRY(check_gone(plan, cache_state.previous->size(), request.max_losses));
  XTTS_TRY(check_known_rejects(plan, request.max_rejects));
  return check_known_drops(plan, request.recipe, request.max_losses);
}

Status compute_sound(const BuildJob& job, const CacheState& cache_state, const Planned& planned,
                     const StartedBuild& started, store::Journal::Opened journal,
                     store::CacheFolder& folder, Computed& computed) {
  const BuildRequest& request = job.request;
  // Blocks state who computed them, also in a cache that another machine began.
  std::vector<formats::ColumnSpec> columns = planned.columns;
  for (formats::ColumnSpec& column : columns) column.numerics = planned.numerics.hash();
  const formats::Manifest* const published =
      cache_state.previous ? cache_state.published() : nullptr;
  XTTS_ASSIGN(
      auto sound,
      compute_sound_columns(
          {.env = job.env,
           .plan = planned.plan,
           .previous = cache_state.previous.get(),
           .recipe = request.recipe,
           .columns = columns,
           .run = request.run,
           .isa = request.isa,
           .engines = planned.engines,
           .generation = started.generation,
           .first_ordinal = published == nullptr ? 0 : published->columns.front().shards.size()},
          folder, journal, job.observer));
  computed.computed_count = planned.plan.to_compute.size() - started.preview.renamed_count;
  computed.times = sound.times;
  computed.shards = std::move(sound.shards);
  return {};
}

}  // namespace

std::vector<store::SealedShard> sealed_of(const std::vector<store::JournalShard>& shards) {
  std::vector<store::SealedShard> sealed;
  for (const auto& shard : shards)
    sealed.insert(sealed.end(), shard.sealed.begin(), shard.sealed.end());
  return sealed;
}

bool Computed::has_records() const noexcept {
  return std::ranges::any_of(shards, [](const auto& shard) { return !shard.sealed.empty(); });
}

Result<StartedBuild> begin_build(const BuildJob& job, const CacheState& cache_state,
                                 const Planned& planned, store::CacheFolder& folder) {
  XTTS_TRY(check_known_losses(job, cache_state, planned.plan));
  StartedBuild started;
  XTTS_ASSIGN(started.generation, choose_generation(job, folder));
  if (!planned.plan.to_compute.empty()) {
    XTTS_ASSIGN(started.journal,
                open_journal(job, cache_state, planned, started.generation, folder));
  }
  started.preview = preview_build(job, cache_state, planned,
                                  started.journal ? started.journal->shards.size() : 0);
  job.observer.before(started.preview);
  return started;
}

Result<Computed> compute_build(const BuildJob& job, const CacheState& cache_state,
                               const Planned& planned, StartedBuild& started,
                               store::CacheFolder& folder) {
  Computed computed;
  if (started.journal) {
    XTTS_TRY(compute_sound(job, cache_state, planned, started,
                           *std::exchange(started.journal, std::nullopt), folder, computed));
  }
  if (job.observer.cancelled()) return Status(StatusCode::kCancelled, "stopped as asked");
  computed.rejects = planned.plan.rejects;
  for (const auto& shard : computed.shards)
    computed.rejects.insert(computed.rejects.end(), shard.rejects.begin(), shard.rejects.end());
  formats::sort_rejects(computed.rejects);
  // A part may be empty.
  const auto stored = job.request.partition
                          ? std::nullopt
                          : std::optional(stored_count(planned.plan, computed.shards));
  XTTS_TRY(check_rejects(computed.rejects, job.request.max_rejects,
                         considered_clip_count(planned.plan), stored));
  return computed;
}

}  // namespace xtts::pipeline
