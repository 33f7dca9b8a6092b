#include "pipeline/preview.hpp"

#include <string>
#include <unordered_set>

#include "pipeline/build_request.hpp"
#include "pipeline/estimate.hpp"
#include "pipeline/losses.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/resource_advice.hpp"

namespace xtts::pipeline {

BuildPreview preview_of(Env& env, const Plan& plan, const BuildRequest& request,
                        std::uint64_t published_count, std::uint64_t sealed_count,
                        bool wants_estimate) {
  BuildPreview preview;
  preview.layout = plan.corpus.layout;
  preview.clip_count = plan.clip_count();
  preview.to_compute_count = plan.to_compute.size();
  preview.sealed_count = sealed_count;
  preview.has_text = plan.corpus.has_text;
  preview.notes = plan.corpus.notes;
  preview.not_audio = plan.corpus.not_audio;
  preview.rejects = plan.rejects;
  preview.unknown_characters = plan.unknown_characters;
  preview.gone_count = plan.gone_count;
  std::unordered_set<std::string> shared;  // sources that are counted already
  for (std::size_t i = 0; i < plan.clips.size(); ++i) {
    if (plan.clips[i].fate == ClipFate::kElsewhere) continue;
    const auto& clip = plan.corpus.clips[i];
    if (!clip.segment || shared.insert(plan.corpus.place_of(clip).key()).second)
      preview.source_bytes += clip.source_bytes;
    ++preview.clips_by_split[std::string(to_string(clip.split))];
    if (plan.clips[i].fate == ClipFate::kReuse) ++preview.reused_count;
    if (plan.clips[i].copied_from) ++preview.renamed_count;
  }
  preview.drops = remedies_of(plan.rejects, request.recipe, found_count(plan),
                              preview.reused_count + preview.to_compute_count);
  preview.would_pass_max_dropped =
      !check_known_drops(plan, request.recipe, request.max_losses).ok();
  preview.would_pass_max_gone = !check_gone(plan, published_count, request.max_losses).ok();
  if (const auto free = free_bytes_for(env, request.cache)) preview.free_bytes = *free;
  if (wants_estimate) {
    estimate(env, plan, request, request.dry_run ? SampleBudget::kFixed : SampleBudget::kShare,
             preview);
  }
  return preview;
}

}  // namespace xtts::pipeline
