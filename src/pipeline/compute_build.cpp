#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/recipe.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/build_phases.hpp"
#include "pipeline/compute_sound_columns.hpp"
#include "pipeline/losses.hpp"
#include "pipeline/sealed_work.hpp"
#include "pipeline/unfinished.hpp"
#include "store/source_table.hpp"

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

store::JournalHead head_of(const BuildJob& job, const Planned& planned, std::uint64_t generation) {
  return {.plan = planned.plan.to_compute_digest,
          .features_fingerprint = planned.columns.front().fingerprint,
          .storage_fingerprint = formats::fingerprint(job.request.recipe.storage),
          .numerics = planned.numerics.hash(),
          .generation = generation,
          .about = encode_asked(asked_of(job.request, planned.asked, planned.plan))};
}

// The sources are saved after the journal: until then, the table of before tells of older files
// than any new work.
Status begin_journal(const BuildJob& job, const CacheState& cache_state, const Planned& planned,
                     store::CacheFolder& folder, StartedBuild& started) {
  XTTS_TRY(folder.check());  // planning takes long; another builder may own the journal by now
  const store::JournalHead head = head_of(job, planned, started.generation);
  XTTS_ASSIGN(started.sealed, find_sealed_work(job, planned, started.generation));
  const std::vector<store::JournalShard> lines = started.sealed.lines();
  XTTS_ASSIGN(started.journal, store::Journal::begin(job.env, folder, head, lines));
  if (cache_state.is_garbage_known)
    XTTS_TRY(folder.collect_garbage(cache_state.published(), sealed_of(lines)));
  return store::save_planned_sources(folder, started.sealed.sources_of(planned.plan));
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
                     const StartedBuild& started, store::Journal& journal,
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
           .sealed = started.sealed,
           .request = request,
           .columns = columns,
           .engines = planned.engines,
           .generation = started.generation,
           .first_ordinal = published == nullptr ? 0 : published->columns.front().shards.size()},
          folder, journal, job.observer));
  computed.computed_count = planned.plan.to_compute.size() - started.preview.renamed_count;
  computed.times = sound.times;
  computed.shards = std::move(sound.shards);
  return {};
}

// Where nothing was sealed, nobody goes on with these rules: the next build would take them over.
Status forget_empty_work(const BuildJob& job, store::CacheFolder& folder) {
  XTTS_ASSIGN(const auto left, find_unfinished(job.env, job.request.options.cache, nullptr));
  return left && left->bytes == 0 ? folder.finish() : Status();
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

Result<SealedWork> find_sealed_work(const BuildJob& job, const Planned& planned,
                                    std::uint64_t generation) {
  const store::JournalHead head = head_of(job, planned, generation);
  const std::string& cache = job.request.options.cache;
  XTTS_ASSIGN(store::JournalContents found, store::read_journal(job.env, cache));
  const std::string path = join_path(store::build_folder(cache), "journal");
  if (!found.head && job.env.stat(path).ok())
    job.observer.notice(path + " is damaged: its clips are computed again");
  if (!found.head || job.request.options.discard_unfinished || !planned.continues_unfinished)
    return SealedWork();
  const auto before = decode_asked(found.head->about).recipe;
  const auto sources = store::load_planned_sources(job.env, cache);
  const bool is_same_plan = *found.head == head;
  return SealedWork::find(
      {.env = job.env,
       .request = job.request,
       .plan = planned.plan,
       .columns = planned.columns,
       .generation = head.generation,
       .interrupted = {.is_same_plan = is_same_plan,
                       .is_same_generation = found.head->generation == head.generation,
                       .has_same_features =
                           found.head->features_fingerprint == head.features_fingerprint,
                       .has_same_rules =
                           is_same_plan || (before && formats::fingerprint(before->corpus) ==
                                                          fingerprint(job.request.recipe.corpus))},
       .sources = sources ? &*sources : nullptr},
      std::move(found.shards));
}

Result<StartedBuild> begin_build(const BuildJob& job, const CacheState& cache_state,
                                 const Planned& planned, store::CacheFolder& folder) {
  XTTS_TRY(check_known_losses(job, cache_state, planned.plan));
  StartedBuild started;
  XTTS_ASSIGN(started.generation, choose_generation(job, folder));
  if (!planned.plan.to_compute.empty()) {
    XTTS_TRY(begin_journal(job, cache_state, planned, folder, started));
  }
  started.preview = preview_build(job, cache_state, planned, started.sealed.clip_count());
  job.observer.before(started.preview);
  return started;
}

Result<Computed> compute_build(const BuildJob& job, const CacheState& cache_state,
                               const Planned& planned, StartedBuild& started,
                               store::CacheFolder& folder) {
  Computed computed;
  if (started.journal) {
    const auto journal = std::exchange(started.journal, nullptr);
    XTTS_TRY(compute_sound(job, cache_state, planned, started, *journal, folder, computed));
  }
  if (job.observer.cancelled()) return Status(StatusCode::kCancelled, "stopped as asked");
  computed.rejects = planned.plan.rejects;
  for (const auto& shard : computed.shards)
    computed.rejects.insert(computed.rejects.end(), shard.rejects.begin(), shard.rejects.end());
  formats::sort_rejects(computed.rejects);
  XTTS_TRY(check_rejects(computed.rejects, job.request.max_rejects,
                         considered_clip_count(planned.plan)));
  if (job.request.partition) return computed;  // a part may be empty
  const Status verdict =
      check_any_clip(computed.rejects, stored_count(planned.plan, computed.shards));
  if (!verdict.ok()) XTTS_TRY(forget_empty_work(job, folder));
  XTTS_TRY(verdict);
  return computed;
}

}  // namespace xtts::pipeline
