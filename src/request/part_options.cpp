#include "request/part_options.hpp"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/planned_part.hpp"
#include "recipe/corpora_file.hpp"
#include "request/option_values.hpp"

namespace xtts::request {
namespace {

// `given`: an option as its user knows it.
Status decided_by_plan(const std::string& given) {
  return {
      StatusCode::kInvalidArgument,
      formatted("{} is decided by the plan, for all its parts alike: leave it out, or give it to "
                "'xtts-precompute plan'",
                given)};
}

Status check_options(const BuildOptions& options) {
  const BuildOptions usual;
  using Text = std::string BuildOptions::*;
  for (const auto& [name, text] : std::initializer_list<std::pair<const char*, Text>>{
           {"recipe", &BuildOptions::recipe},
           {"config", &BuildOptions::config},
           {"layout-of-data", &BuildOptions::layout_of_data},
           {"language", &BuildOptions::language},
           {"speakers", &BuildOptions::speakers_file},
           {"store", &BuildOptions::store},
           {"layout", &BuildOptions::layout},
           {"dtype", &BuildOptions::dtype},
           {"device", &BuildOptions::device},
           {"isa", &BuildOptions::isa},
           {"partition", &BuildOptions::partition}}) {
    if (options.*text != usual.*text) return decided_by_plan(option(name));
  }
  if (!options.settings.empty()) return decided_by_plan(option_set("KEY", "VALUE"));
  if (options.no_text) return decided_by_plan(option_on("no-text"));
  if (!options.retry_rejects) return {};
  return {StatusCode::kInvalidArgument,
          formatted("a part of a plan is not changed once it is built: leave out {}, or give {} to "
                    "build it anew",
                    option_on("retry-rejects"), option_on("overwrite"))};
}

// A processor without the plan's instruction set cannot even be asked for its libraries.
Status take_isa(const pipeline::PlannedPart& part, dsp::Isa& isa) {
  XTTS_ASSIGN(isa, parse_isa("isa", part.plan.numerics.isa));
  if (isa <= dsp::best_isa()) return {};
  return {StatusCode::kMismatch,
          formatted("{} was planned for the instruction set {}, and this processor has {} at best: "
                    "build it elsewhere, or plan anew with {}",
                    part.path, part.plan.numerics.isa, dsp::to_string(dsp::best_isa()),
                    option("isa", dsp::to_string(dsp::best_isa())))};
}

// The plan's corpora; with a corpora.yaml of this machine, in its folders.
Status take_corpora(Env& env, const BuildOptions& options, pipeline::BuildRequest& request) {
  std::vector<formats::CorporaEntry> here;
  if (!options.data.empty()) {
    XTTS_ASSIGN(here, recipe::load_corpora(env, options.data));
  }
  for (const formats::PlanFolder& folder : request.part->plan.folders) {
    formats::CorporaEntry& entry = request.corpora.emplace_back();
    entry.name = folder.name;
    entry.folder = folder.path;
    entry.audio_roots = folder.audio_roots;
    if (options.data.empty()) continue;
    const auto found = std::ranges::find(here, folder.name, &formats::CorporaEntry::name);
    if (found == here.end()) {
      return {StatusCode::kInvalidArgument,
              formatted("{} names no corpus '{}', which the plan has", options.data, folder.name)};
    }
    entry.folder = found->folder;
    entry.audio_roots = found->folders(request.data).audio_roots;
  }
  return {};
}

Status take_data(Env& env, const BuildOptions& options, pipeline::BuildRequest& request) {
  const formats::Plan& plan = request.part->plan;
  request.data = {plan.data_path, plan.audio_roots};
  if (!options.audio_roots.empty()) request.data.audio_roots = options.audio_roots;
  if (!options.data.empty()) request.data.path = options.data;
  const bool is_several = !plan.folders.front().name.empty();
  const bool is_file = !options.data.empty() && recipe::is_corpora_file(options.data);
  if (!options.data.empty() && is_several != is_file) {
    return {StatusCode::kInvalidArgument,
            formatted("the plan is of {}: give {} as such",
                      is_several ? "a corpora.yaml" : "a folder", option("data"))};
  }
  return is_several ? take_corpora(env, options, request) : Status();
}

}  // namespace

Status take_part(Env& env, const BuildOptions& options, pipeline::BuildRequest& request) {
  XTTS_TRY(check_options(options));
  XTTS_ASSIGN(auto part, pipeline::open_part(env, options.part));
  request.part = std::make_shared<const pipeline::PlannedPart>(std::move(part));
  request.partition = request.part->choice;
  request.recipe = request.part->plan.recipe;
  request.known_speakers = request.part->plan.speakers;
  XTTS_TRY(take_isa(*request.part, request.isa));
  return take_data(env, options, request);
}

BuildOptions with_limits_of(const formats::Plan& plan, BuildOptions options) {
  const BuildOptions usual;
  if (options.max_rejects == usual.max_rejects) options.max_rejects = plan.limits.max_rejects;
  if (options.max_dropped == usual.max_dropped) options.max_dropped = plan.limits.max_dropped;
  return options;
}

}  // namespace xtts::request
