#include "verify/left_out.hpp"

#include <utility>
#include <vector>

#include "base/try.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "formats/reject.hpp"
#include "formats/sound_columns.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/index_build.hpp"
#include "pipeline/published_clip.hpp"
#include "reader/cache_view.hpp"
#include "store/source_table.hpp"

namespace xtts::verify {
namespace {

Result<pipeline::BuildPlan> plan_without(reader::CacheView& view,
                                         const std::set<std::uint64_t>& positions) {
  pipeline::BuildPlan plan;
  plan.corpus.layout = view.manifest().data_layout;
  for (std::uint64_t position = 0; position < view.size(); ++position) {
    if (positions.contains(position)) continue;
    XTTS_ASSIGN(auto facts, view.details(position));
    plan.corpus.clips.push_back(pipeline::clip_of(std::move(facts)));
    plan.clips.push_back({.fate = pipeline::ClipFate::kReuse,
                          .previous_position = static_cast<std::uint32_t>(position)});
  }
  plan.corpus.has_text = pipeline::has_texts(view.manifest(), plan.corpus.clips);
  return plan;
}

// Keeps the sizes and times of the sources, but lets the next build look at them again: it would
// make the clips again that were left out, so "unchanged since the last build" is not true.
Status save_sources_for_another_look(const Run& run, store::CacheFolder& folder,
                                     const Digest& index_before, const Digest& index_after) {
  auto sources = store::load_source_table(run.env, run.cache);
  if (!sources || sources->index_digest != index_before) return {};
  sources->plan_digest = {};
  sources->index_digest = index_after;
  return store::save_source_table(folder, std::move(*sources));
}

}  // namespace

Result<formats::Manifest> publish_without(Run& run, store::CacheFolder& folder,
                                          const std::set<std::uint64_t>& positions) {
  XTTS_ASSIGN(const auto view, reader::CacheView::open(run.env, run.cache));
  const formats::Manifest& before = view->manifest();
  XTTS_ASSIGN(const auto recipe, formats::recipe_of(before));
  XTTS_ASSIGN(const auto plan, plan_without(*view, positions));
  XTTS_ASSIGN(const std::string rejected_lines, view->rejects_jsonl());
  XTTS_ASSIGN(const auto rejects, formats::decode_rejects(rejected_lines));
  XTTS_ASSIGN(const auto generations, folder.generations());
  std::vector<formats::ColumnSpec> columns;
  for (std::size_t i = 0; i < formats::sound_columns_of(*recipe.features).size(); ++i)
    columns.push_back(before.columns[i].spec);
  const auto keep_counts = [&](formats::Manifest& manifest) {
    manifest.counts.planned = before.counts.planned - positions.size();
  };
  XTTS_ASSIGN(const auto index, pipeline::build_index({.env = run.env,
                                                       .plan = plan,
                                                       .recipe = recipe,
                                                       .numerics = before.numerics,
                                                       .previous = view.get(),
                                                       .columns = columns,
                                                       .shards = {},
                                                       .rejects = rejects,
                                                       .known_speakers = {},
                                                       .generation = generations.newest + 1,
                                                       .amend_manifest = keep_counts},
                                                      folder));
  XTTS_ASSIGN(const std::string text, formats::encode_manifest(index.manifest));
  // publish() would refuse this cache, because its damaged shards are still there.
  XTTS_TRY(store::replace_manifest(folder, text));
  XTTS_TRY(
      save_sources_for_another_look(run, folder, before.index_digest, index.manifest.index_digest));
  return index.manifest;
}

}  // namespace xtts::verify
