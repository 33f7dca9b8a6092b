#include <algorithm>
#include <unordered_map>

#include "base/option_names.hpp"
#include "base/try.hpp"
#include "formats/clip_id.hpp"
#include "formats/recipe.hpp"
#include "formats/rules.hpp"
#include "pipeline/build_phases.hpp"
#include "pipeline/drop_rules.hpp"
#include "pipeline/planned_part.hpp"
#include "pipeline/published_clip.hpp"
#include "pipeline/source_rows.hpp"
#include "reader/cache_paths.hpp"
#include "store/index_copy.hpp"

namespace xtts::pipeline {
namespace {

void name_part(const BuildJob& job, const Planned& planned, formats::Manifest& manifest) {
  const auto& part = job.request.partition;
  if (!part) return;
  manifest.partition = formats::Partition{
      .index = part->index, .count = part->count, .plan = planned.plan.all_clips};
}

// The names that keep their numbers where no published generation is continued.
struct KnownNames {
  std::vector<std::string> speakers, languages, datasets;
};

KnownNames known_names(const BuildJob& job, const CacheState& cache_state) {
  const BuildRequest& request = job.request;
  if (request.part) {
    const formats::Plan& plan = request.part->plan;
    return {plan.speakers, plan.languages, plan.datasets};
  }
  const bool keeps = request.recipe_of && request.known_speakers.empty();
  if (!keeps || !cache_state.overwritten) return {request.known_speakers, {}, {""}};
  return {cache_state.overwritten->speakers, cache_state.overwritten->languages, {""}};
}

Result<IndexResult> index_of(const BuildJob& job, const CacheState& cache_state,
                             const Planned& planned, const Computed& computed,
                             std::uint64_t generation, store::CacheFolder& folder) {
  const KnownNames names = known_names(job, cache_state);
  return build_index({.env = job.env,
                      .plan = planned.plan,
                      .recipe = job.request.recipe,
                      .numerics = planned.numerics,
                      .previous = cache_state.previous.get(),
                      .columns = planned.columns,
                      .shards = computed.shards,
                      .keeps_texts = !planned.plan.texts_changed && !computed.has_records(),
                      .rejects = computed.rejects,
                      .known_speakers = names.speakers,
                      .known_languages = names.languages,
                      .known_datasets = names.datasets,
                      .generation = generation,
                      .amend_manifest = [&](auto& manifest) { name_part(job, planned, manifest); }},
                     folder);
}

Status save_sources(const Planned& planned, const Computed& computed, const Digest& index_digest,
                    store::CacheFolder& folder) {
  std::unordered_map<std::string_view, const formats::Reject*> rejects;
  for (const auto& reject : computed.rejects)
    if (!formats::precedes_sound(reject.stage())) rejects.emplace(reject.id, &reject);
  const BuildPlan& plan = planned.plan;
  store::SourceTable table;
  table.data = plan.data;
  table.plan_digest = plan.digest;
  table.index_digest = index_digest;
  table.rows.reserve(plan.corpus.clips.size());
  for (const auto& clip : plan.corpus.clips) {
    store::SourceRow row = source_row_of(clip);
    if (const auto reject = rejects.find(full_id(clip)); reject != rejects.end()) {
      row.reject_check = check_of(*reject->second, clip);
      row.content = reject->second->content_digest.value_or(Digest());
    }
    table.rows.push_back(row);
  }
  return store::save_source_table(folder, std::move(table));
}

// Checks the losses after the index is written, for the index knows the hours. If nothing is
// published, the index is removed. What the journal names stays.
Status check_losses(const BuildJob& job, const CacheState& cache_state, const Planned& planned,
                    const Computed& computed, const formats::Counts& counts,
                    store::CacheFolder& folder) {
  // Nobody knows the hours of the other parts of a plan.
  const std::uint64_t elsewhere_count = planned.plan.elsewhere_count;
  const auto seconds = elsewhere_count == 0 ? std::optional(counts.seconds) : std::nullopt;
  Status verdict = check_dropped(computed.rejects, job.request.recipe, job.request.max_losses,
                                 found_count(planned.plan) + elsewhere_count, counts.records,
                                 seconds, LossKnown::kAfter);
  const bool by_features = std::ranges::any_of(computed.rejects, [](const formats::Reject& reject) {
    return is_drop(reject) && formats::info_of(reject.reason.rule).setting.starts_with("features.");
  });
  if (!verdict.ok() && cache_state.published() != nullptr && by_features) {
    verdict = {verdict.code(),
               verdict.message() + "\nThis cache keeps its features: " + option_on("overwrite") +
                   " makes it anew with other settings of features, and with " +
                   option_set("features.max_frames", "auto") + " for the lengths of DATA now"};
  }
  if (verdict.ok() || !cache_state.is_garbage_known) return verdict;
  XTTS_ASSIGN(const auto journal, store::read_journal(job.env, job.request.options.cache));
  XTTS_TRY(folder.collect_garbage(cache_state.published(), sealed_of(journal.shards)));
  return verdict;
}

BuildReport report_of(const Planned& planned, const formats::Manifest& manifest) {
  const BuildPlan& plan = planned.plan;
  BuildReport report;
  report.lengths = planned.lengths;
  report.generation = manifest.generation;
  report.clip_count = manifest.counts.planned;
  report.record_count = manifest.counts.records;
  report.gone_count = plan.gone_count;
  report.reused_count = plan.count_of(ClipFate::kReuse);
  report.sound_seconds = manifest.counts.seconds;
  report.records_by_split = manifest.counts.records_by_split;
  report.speaker_count = manifest.speakers.size();
  report.cache_bytes = reader::cache_bytes(manifest);
  return report;
}

void add_losses(const BuildJob& job, const Computed& computed, const formats::Counts& counts,
                BuildReport& report) {
  report.rejects = computed.rejects;
  report.drops =
      remedies_of(computed.rejects, job.request.recipe, report.accounting.found, counts.records);
  for (const auto& reject : computed.rejects) {
    if (reject.reason.rule != formats::Rule::kTooLong) continue;
    report.frames_needed = std::max(
        report.frames_needed, static_cast<std::uint32_t>(std::min(reject.reason.numbers[0], 4e9)));
  }
}

void add_warnings(const IndexResult& index, BuildReport& report) {
  report.cut_count = index.cut_count;
  report.cut_text_count = index.cut_text_count;
  report.warned_count = index.warned_count;
  report.warnings = index.warnings.by_count();
}

// Completes what a build left undone that died after writing its manifest, or was given up.
Status tidy_published(const BuildJob& job, reader::CacheView& published,
                      store::CacheFolder& folder) {
  XTTS_ASSIGN(const std::string rejects, published.rejects_jsonl());
  const auto for_people =
      read_text_file(job.env, store::rejects_path(job.request.options.cache), rejects.size());
  if (!for_people || *for_people != rejects) XTTS_TRY(store::replace_rejects(folder, rejects));
  XTTS_TRY(store::save_index_copy(job.env, folder, published.manifest()));
  XTTS_TRY(folder.collect_garbage(&published.manifest(), {}));
  return folder.finish();
}

}  // namespace

Result<Indexed> index_computed(const BuildJob& job, const CacheState& cache_state,
                               const Planned& planned, const StartedBuild& started,
                               const Computed& computed, store::CacheFolder& folder) {
  Indexed indexed;
  if (cache_state.previous && !planned.plan.texts_changed && !computed.has_records()) {
    // An index of the published generation is made first: if it gives the published manifest,
    // nothing differs.
    const formats::Manifest& published = cache_state.previous->manifest();
    XTTS_ASSIGN(indexed.index,
                index_of(job, cache_state, planned, computed, published.generation, folder));
    XTTS_ASSIGN(const std::string would_be, encode_manifest(indexed.index.manifest));
    XTTS_ASSIGN(const std::string is, encode_manifest(published));
    indexed.is_same = would_be == is;
    if (indexed.is_same) return indexed;
  }
  XTTS_ASSIGN(indexed.index,
              index_of(job, cache_state, planned, computed, started.generation, folder));
  return indexed;
}

Result<BuildReport> publish_build(const BuildJob& job, CacheState& cache_state,
                                  const Planned& planned, const Computed& computed,
                                  const Indexed& indexed, store::CacheFolder& folder) {
  const formats::Manifest& manifest = indexed.index.manifest;
  if (indexed.is_same) {
    XTTS_TRY(save_sources(planned, computed, manifest.index_digest, folder));
    XTTS_ASSIGN(BuildReport report, report_published(job, cache_state, planned, &folder));
    report.computed_count = computed.computed_count;
    return report;
  }
  XTTS_TRY(check_losses(job, cache_state, planned, computed, manifest.counts, folder));
  BuildReport report = report_of(planned, manifest);
  XTTS_ASSIGN(report.accounting,
              account_for(planned.plan, computed.rejects, cache_state.previous.get()));
  XTTS_TRY(folder.publish(manifest, indexed.index.rejects_jsonl));
  XTTS_TRY(save_sources(planned, computed, manifest.index_digest, folder));
  cache_state.previous.reset();
  XTTS_TRY(folder.collect_garbage(&manifest, {}));
  XTTS_TRY(folder.finish());
  report.computed_count = computed.computed_count;
  report.times = computed.times;
  add_losses(job, computed, manifest.counts, report);
  add_warnings(indexed.index, report);
  return report;
}

Result<BuildReport> report_published(const BuildJob& job, const CacheState& cache_state,
                                     const Planned& planned, store::CacheFolder* folder) {
  reader::CacheView& published = *cache_state.previous;
  if (folder != nullptr) XTTS_TRY(tidy_published(job, published, *folder));
  BuildReport report = report_of(planned, published.manifest());
  report.unchanged = true;
  report.reused_count = report.record_count;
  XTTS_ASSIGN(const std::string lines, published.rejects_jsonl());
  XTTS_ASSIGN(report.rejects, formats::decode_rejects(lines));
  return report;
}

}  // namespace xtts::pipeline
