#include "pipeline/losses.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/build_plan.hpp"
#include "reader/cache_paths.hpp"
#include "report/human.hpp"

namespace xtts::pipeline {
namespace {

std::string percent(double share) {
  return report::format_percent(share);
}

std::string rule_lines(const std::vector<DropRemedy>& remedies, const formats::Recipe& recipe) {
  std::string text;
  for (const DropRemedy& remedy : remedies) {
    text +=
        "\n  " + report::format_count(remedy.count) + " by " +
        std::string(remedy.setting().empty() ? formats::name_of(remedy.rule) : remedy.setting());
    if (const std::string advice = describe(remedy, recipe); !advice.empty()) text += ": " + advice;
  }
  return text;
}

}  // namespace

std::string limit_that_allows(double share) {
  const double percent = std::min(std::ceil(share * 1000.0 - kShareTolerance) / 10.0, 100.0);
  std::string text = report::format_fixed(percent, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text + "%";
}

std::uint64_t found_count(const BuildPlan& plan) {
  return plan.clip_count() + plan.corpus.problems.size();
}

Result<Accounting> account_for(const BuildPlan& plan, const std::vector<formats::Reject>& rejects,
                               reader::CacheView* previous) {
  Accounting all;
  all.found = found_count(plan);
  std::unordered_set<std::string_view> left_out;
  for (const formats::Reject& reject : rejects) {
    if (!reject.split.empty()) left_out.insert(reject.id);
    if (is_drop(reject)) {
      ++all.dropped;
      ++all.dropped_by_rule[formats::name_of(reject.reason)];
    } else {
      ++all.rejected;
      ++all.rejected_by_class[std::string(formats::to_string(reject.kind))];
    }
  }
  for (std::size_t i = 0; i < plan.clips.size(); ++i) {
    const PlannedClip& clip = plan.clips[i];
    if (clip.fate == ClipFate::kElsewhere) continue;
    if (clip.fate == ClipFate::kReuse) {
      ++all.reused;
      continue;
    }
    const std::string id = full_id(plan.corpus.clips[i]);
    bool was_published = clip.copied_from.has_value();
    if (!was_published && previous != nullptr) {
      XTTS_ASSIGN(const auto position, previous->find(id));
      was_published = position.has_value();
    }
    if (left_out.contains(id)) {
      all.lost += was_published ? 1U : 0U;
    } else if (clip.copied_from) {
      ++all.renamed;
    } else {
      ++(was_published ? all.changed : all.added);
    }
  }
  all.stored = all.reused + all.changed + all.renamed + all.added;
  all.before = previous == nullptr ? 0 : previous->size();
  all.gone = plan.gone_count;
  return all;
}

double DroppedShare::worse() const noexcept {
  return std::max(of_clips, of_hours.value_or(0.0));
}

DroppedShare dropped_share(const std::vector<formats::Reject>& rejects,
                           const formats::FeatureConfig& features, std::uint64_t found_count,
                           std::uint64_t stored_count, std::optional<double> stored_seconds) {
  std::uint64_t count = 0;
  std::uint64_t unknown_count = 0;
  double seconds = 0.0;
  for (const formats::Reject& reject : rejects) {
    if (!is_drop(reject)) continue;
    ++count;
    const auto of_clip = seconds_of_drop(reject, features);
    unknown_count += of_clip ? 0U : 1U;
    seconds += of_clip.value_or(0.0);
  }
  DroppedShare share;
  if (count == 0 || found_count == 0) return share;
  share.of_clips = static_cast<double>(count) / static_cast<double>(found_count);
  if (!stored_seconds || stored_count == 0) return share;
  seconds +=
      static_cast<double>(unknown_count) * *stored_seconds / static_cast<double>(stored_count);
  if (seconds > 0.0) share.of_hours = seconds / (seconds + *stored_seconds);
  return share;
}

std::string limits_of_last_build(Env& env, const std::string& cache,
                                 const formats::Manifest& published) {
  constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 30U;
  const auto text = read_text_file(env, join_path(cache, reader::kRejectsName), kBytesMax);
  const auto rejects = text ? formats::decode_rejects(*text) : text.status();
  const auto recipe = formats::recipe_of(published);
  if (!rejects || !recipe) return {};
  const formats::Counts& counts = published.counts;
  const std::uint64_t found = counts.records + rejects->size();
  const std::uint64_t faults = fault_count(*rejects);
  std::string words;
  if (faults > allowed_faults({}, found)) words += formatted(" --max-rejects {}", faults);
  const double dropped =
      dropped_share(*rejects, *recipe->features, found, counts.records, counts.seconds).worse();
  if (dropped > LossLimits().dropped) words += " --max-dropped " + limit_that_allows(dropped);
  return words;
}

Status check_dropped(const std::vector<formats::Reject>& rejects, const formats::Recipe& recipe,
                     const LossLimits& limits, std::uint64_t found_count,
                     std::uint64_t stored_count, std::optional<double> stored_seconds,
                     LossKnown known) {
  const DroppedShare share =
      dropped_share(rejects, *recipe.features, found_count, stored_count, stored_seconds);
  if (share.worse() <= limits.dropped + kShareTolerance) return {};
  const auto count = static_cast<std::uint64_t>(std::ranges::count_if(rejects, is_drop));
  std::string text =
      formatted("rules of the recipe drop {} of {} ({}", report::format_count(count),
                report::format_counted(found_count, "clip", "clips"), percent(share.of_clips));
  if (share.of_hours) text += "; of the hours, " + percent(*share.of_hours);
  text += formatted("), more than the {} that {} allows.", percent(limits.dropped),
                    option("max-dropped"));
  text += known == LossKnown::kBefore
              ? " Nothing was computed or published: the texts of the clips alone say so."
              : " Nothing was published; what was computed is kept.";
  return {StatusCode::kTooManyRejects,
          text + " By rule:" +
              rule_lines(remedies_of(rejects, recipe, found_count, stored_count), recipe) +
              "\nRun again with " + option("max-dropped", limit_that_allows(share.worse())) +
              " to make the cache without them"};
}

Status check_known_drops(const BuildPlan& plan, const formats::Recipe& recipe,
                         const LossLimits& limits) {
  const std::uint64_t found = found_count(plan) + plan.elsewhere_count;
  return check_dropped(plan.rejects, recipe, limits, found, found - plan.rejects.size(),
                       std::nullopt, LossKnown::kBefore);
}

Status check_gone(const BuildPlan& plan, std::uint64_t published_count, const LossLimits& limits) {
  if (published_count == 0) return {};
  const double share =
      static_cast<double>(plan.vanished_count) / static_cast<double>(published_count);
  if (share <= limits.gone + kShareTolerance) return {};
  std::string text = formatted(
      "{} of the {} in the cache are gone from DATA ({}), more than the {} that {} allows",
      report::format_count(plan.vanished_count),
      report::format_counted(published_count, "clip", "clips"), percent(share),
      percent(limits.gone), option("max-gone"));
  for (const std::string& id : plan.vanished_examples) text += "\n  " + id;
  return {StatusCode::kTooManyRejects,
          text +
              "\nNothing was changed. Is a disk not mounted, a folder moved, a list cut short? "
              "Run again with " +
              option("max-gone", limit_that_allows(share)) + " to take them out of the cache"};
}

}  // namespace xtts::pipeline
