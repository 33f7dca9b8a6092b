#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/try.hpp"
#include "formats/recipe.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/build_phases.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/estimate.hpp"
#include "pipeline/lengths.hpp"
#include "pipeline/losses.hpp"
#include "pipeline/name_table.hpp"
#include "pipeline/partition.hpp"
#include "pipeline/planned_part.hpp"
#include "pipeline/resource_advice.hpp"
#include "pipeline/speaker_numbers.hpp"
#include "records/clip_worker.hpp"
#include "records/columns.hpp"
#include "records/record_maker.hpp"
#include "store/shard_image.hpp"

namespace xtts::pipeline {
namespace {

const formats::Manifest* continued(const CacheState& cache_state) {
  return cache_state.previous ? &cache_state.previous->manifest() : nullptr;
}

// Checks the request and the published cache before looking at DATA.
Status check_request(const BuildJob& job, const formats::Manifest* published) {
  XTTS_TRY(check_not_baked(published, job.request.recipe));
  if (published != nullptr) {
    XTTS_TRY(check_same_recipe(*published, job.request));
    XTTS_TRY(check_speaker_numbers(published->speakers, job.request.known_speakers));
  }
  return check_partition(job.request, published);
}

Status check_plan(const BuildJob& job, const reader::CacheView& previous, const Planned& planned) {
  const formats::Manifest& published = previous.manifest();
  XTTS_TRY(check_same_corpus(previous.size(), planned.plan.gone_count));
  XTTS_TRY(check_added_columns(published, has_tokens(planned.plan, job.request.recipe)));
  if (job.request.options.allow_mixed) return {};
  return check_same_numerics(published.numerics, planned.numerics, planned.plan.to_compute.size());
}

// Returns what lists DATA and decides on its clips, without the columns.
PlanRequest plan_request_of(const BuildJob& job, const formats::Recipe& recipe,
                            const CacheState& cache_state) {
  return {.env = job.env,
          .build = job.request,
          .recipe = recipe,
          .previous = cache_state.previous.get(),
          .sources = cache_state.sources ? &*cache_state.sources : nullptr,
          .memory_bytes = job.request.run.memory_bytes};
}

Result<BuildPlan> make_plan_of(const BuildJob& job, const CacheState& cache_state,
                               const Planned& planned, std::optional<corpus::Corpus> found) {
  const formats::Manifest* const published = continued(cache_state);
  PlanRequest request = plan_request_of(job, job.request.recipe, cache_state);
  request.has_new_speakers =
      published != nullptr && job.request.known_speakers.size() > published->speakers.size();
  request.copies_renamed =
      published != nullptr && published->numerics.hash() == planned.numerics.hash();
  request.clips_per_shard = records::clips_per_shard(planned.columns);
  return make_plan(request, std::move(found));
}

void tell_speakers(const BuildJob& job, const formats::Manifest* published, const BuildPlan& plan) {
  const std::vector<std::string>& given = job.request.known_speakers;
  if (given.empty()) return;
  const auto note = note_on_speakers(given, published == nullptr ? nullptr : &published->speakers,
                                     names_of(plan.corpus.clips, &corpus::Clip::speaker));
  if (note) job.observer.notice(*note);
}

// Previews what the corpus holds, whatever is in the cache.
BuildPreview preview_corpus(const BuildJob& job, const BuildPlan& plan) {
  BuildPreview preview;
  preview.layout = plan.corpus.layout;
  preview.clip_count = plan.clip_count();
  preview.has_text = plan.corpus.has_text;
  preview.notes = plan.corpus.notes;
  preview.not_audio = plan.corpus.not_audio;
  preview.unknown_characters = plan.unknown_characters;
  std::unordered_set<std::string> shared;  // sources that are already counted
  for (std::size_t i = 0; i < plan.clips.size(); ++i) {
    if (plan.clips[i].fate == ClipFate::kElsewhere) continue;
    const auto& clip = plan.corpus.clips[i];
    if (!clip.segment || shared.insert(plan.corpus.place_of(clip).key()).second)
      preview.source_bytes += clip.source_bytes;
    ++preview.clips_by_split[std::string(to_string(clip.split))];
  }
  if (const auto free = free_bytes_for(job.env, job.request.options.cache))
    preview.free_bytes = *free;
  return preview;
}

}  // namespace

Result<Settled> settle_lengths(const BuildJob& job, const CacheState& cache_state) {
  const formats::Manifest* const published = continued(cache_state);
  Settled settled{.request = job.request, .lengths = {}, .asked = job.request.recipe, .corpus = {}};
  formats::Recipe& recipe = settled.request.recipe;
  if (published != nullptr) take_published_lengths(*published, recipe);
  XTTS_TRY(check_request({job.env, settled.request, job.observer}, published));
  if (job.request.part) {
    XTTS_ASSIGN(settled.corpus, read_part(job.env, job.request));
    if (const auto note = look_at_sources(job.env, *settled.corpus)) job.observer.notice(*note);
  }
  if (!has_open_lengths(recipe)) {
    settled.lengths = given_lengths(recipe);
    return settled;
  }
  const formats::Recipe longest = with_longest(recipe);
  XTTS_ASSIGN(settled.corpus, discover_corpus(plan_request_of(job, longest, cache_state)));
  XTTS_ASSIGN(settled.lengths, choose_lengths({job.env, *settled.corpus, job.request.run}, recipe));
  return settled;
}

Result<Planned> plan_build(const BuildJob& job, const CacheState& cache_state, Settled& settled) {
  const BuildRequest& request = job.request;
  const formats::Manifest* const published = continued(cache_state);
  Planned planned;
  planned.lengths = settled.lengths;
  planned.asked = settled.asked;
  if (request.choose_engines) {
    XTTS_ASSIGN(planned.engines,
                request.choose_engines(published == nullptr ? "" : published->numerics.device));
  }
  XTTS_ASSIGN(planned.numerics, records::numerics_of(request.isa, request.run.make_decoder,
                                                     request.run.cancelled, planned.engines.get()));
  if (request.part && !request.options.allow_mixed)
    XTTS_TRY(check_numerics_of_plan(*request.part, planned.numerics));
  XTTS_ASSIGN(planned.continues_unfinished,
              check_unfinished(job.env, request, cache_state.published(), published != nullptr,
                               planned.numerics.hash()));
  planned.columns = records::sound_columns(request.recipe, planned.numerics);
  XTTS_ASSIGN(planned.plan,
              make_plan_of(job, cache_state, planned, std::exchange(settled.corpus, std::nullopt)));
  // A published part is done. Its sources may have other times now, and what the system refused may
  // work now. The build that continues the merged cache takes care of both.
  if (!request.part) tell_speakers(job, published, planned.plan);
  planned.is_done =
      planned.plan.unchanged || (published != nullptr && request.partition.has_value());
  if (planned.is_done) {
    if (!planned.plan.unchanged)
      XTTS_TRY(check_same_clips(*published->partition, planned.plan.all_clips));
    // A preview counts this part's clips alone.
    if (request.partition && !request.part && request.options.dry_run)
      assign_to_other_parts(planned.plan, *request.partition,
                            records::clips_per_shard(planned.columns));
    return planned;
  }
  XTTS_TRY(store::prepare_store(request.recipe.storage.store));
  if (published == nullptr) {
    // A published cache of this dtype shows that its corpus fits.
    XTTS_TRY(check_dtype_holds_full_scale(request.recipe, request.isa));
    return planned;
  }
  XTTS_TRY(check_plan(job, *cache_state.previous, planned));
  for (formats::ColumnSpec& column : planned.columns) column = published->columns[column.id].spec;
  return planned;
}

BuildPreview preview_build(const BuildJob& job, const CacheState& cache_state,
                           const Planned& planned, std::uint64_t sealed_count) {
  const BuildPlan& plan = planned.plan;
  const BuildRequest& request = job.request;
  const std::uint64_t published_count = cache_state.previous ? cache_state.previous->size() : 0;
  BuildPreview preview = preview_corpus(job, plan);
  preview.lengths = planned.lengths;
  preview.to_compute_count = plan.to_compute.size();
  preview.sealed_count = sealed_count;
  preview.rejects = plan.rejects;
  preview.gone_count = plan.gone_count;
  for (const PlannedClip& clip : plan.clips) {
    if (clip.fate == ClipFate::kReuse) ++preview.reused_count;
    if (clip.copied_from) ++preview.renamed_count;
  }
  preview.drops = remedies_of(plan.rejects, request.recipe, found_count(plan),
                              preview.reused_count + preview.to_compute_count);
  preview.would_pass_max_dropped =
      !check_known_drops(plan, request.recipe, request.max_losses).ok();
  preview.would_pass_max_rejects = !check_known_rejects(plan, request.max_rejects).ok();
  preview.would_pass_max_gone = !check_gone(plan, published_count, request.max_losses).ok();
  if (job.observer.wants_estimate()) {
    estimate(job.env, plan, request,
             request.options.dry_run ? SampleBudget::kFixed : SampleBudget::kShare, planned.engines,
             preview);
  }
  return preview;
}

BuildPreview preview_done(const BuildJob& job, const Planned& planned,
                          const BuildReport& published) {
  BuildPreview preview = preview_corpus(job, planned.plan);
  preview.lengths = planned.lengths;
  preview.reused_count = published.record_count;
  preview.rejects = published.rejects;
  preview.drops = remedies_of(published.rejects, job.request.recipe, found_count(planned.plan),
                              published.record_count);
  return preview;
}

}  // namespace xtts::pipeline
