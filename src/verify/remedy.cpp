#include "verify/remedy.hpp"

#include <algorithm>

#include "pipeline/losses.hpp"
#include "reader/manifest_file.hpp"
#include "store/source_table.hpp"

namespace xtts::verify {
namespace {

// Skips findings of checks after a repair, which has tried them already.
const Finding* cheapest_of(const Run& run, const Report& report, Weight weight) {
  const Finding* cheapest = nullptr;
  for (const Finding& finding : report.findings) {
    if (finding.weight != weight) continue;
    if (run.options.repair && finding.is_of_checks) continue;
    if (cheapest == nullptr || finding.remedy < cheapest->remedy) cheapest = &finding;
  }
  return cheapest;
}

bool any_needs_sources(const Report& report) {
  return std::ranges::any_of(report.findings, [](const Finding& finding) {
    return finding.weight == Weight::kDamage && finding.remedy == RemedyKind::kSources;
  });
}

Remedy remedy_by(const Run& run, const Report& report, RemedyKind kind) {
  Remedy remedy{.kind = kind, .cache = run.cache, .is_after_repair = run.options.repair};
  if (kind == RemedyKind::kRepair && any_needs_sources(report)) remedy.kind = RemedyKind::kSources;
  const auto table = store::load_source_table(run.env, run.cache);
  if (table) remedy.data_before = table->data.path;
  const formats::DataFolders& told = run.options.sources.data;
  if (!table || table->data.audio_roots != told.audio_roots)
    remedy.data.audio_roots = told.audio_roots;
  // Takes DATA as given, else the place where the last build found it, if it still exists.
  const bool was_in_vain =
      remedy.kind == RemedyKind::kSources && run.options.repair && !told.path.empty();
  for (const std::string& data : {told.path, remedy.data_before}) {
    if (was_in_vain || !remedy.data.path.empty() || data.empty() || !run.env.stat(data)) continue;
    remedy.data.path = data;
  }
  if (const auto loaded = reader::load_manifest(run.env, run.cache)) {
    if (const auto& part = loaded->manifest.partition) remedy.partition = part->name();
    remedy.limits = pipeline::limits_of_last_build(run.env, run.cache, loaded->manifest);
  } else {
    remedy.is_recipe_lost = true;
  }
  remedy.is_other_machine = report.comparison.tolerant_count > 0;
  const auto gone = std::ranges::count_if(report.findings, [](const Finding& finding) {
    return finding.check == Check::kSource && finding.found.kind == kNotListed;
  });
  if (report.clip_count > 0)
    remedy.gone_share = static_cast<double>(gone) / static_cast<double>(report.clip_count);
  remedy.index = run.index_to_name;
  remedy.lost_clip_count = run.lost_clip_count;
  remedy.clip_count = run.clip_count;
  return remedy;
}

}  // namespace

std::optional<Remedy> remedy_of(const Run& run, const Report& report) {
  const Finding* cheapest = cheapest_of(run, report, Weight::kDamage);
  if (cheapest == nullptr && report.ok) cheapest = cheapest_of(run, report, Weight::kNote);
  if (cheapest == nullptr && report.ok) return std::nullopt;
  // Only findings remain that a repair has just failed to mend, without an obstacle of their own.
  if (cheapest == nullptr) return remedy_by(run, report, RemedyKind::kOverwrite);
  Remedy remedy = remedy_by(run, report, cheapest->remedy);
  remedy.column = cheapest->column;
  return remedy;
}

}  // namespace xtts::verify
