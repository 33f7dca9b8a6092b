// BuildRequest: what a build is asked to do. A plain value.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "dsp/frame_engine.hpp"
#include "dsp/isa.hpp"
#include "formats/corpora.hpp"
#include "formats/data_folders.hpp"
#include "formats/recipe.hpp"
#include "pipeline/limits.hpp"
#include "pipeline/partition_choice.hpp"
#include "pipeline/run_config.hpp"
#include "xtts/builder.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

struct PlannedPart;

// Opens the device that computes frames; null: the CPU. It gets `numerics.device` of the cache that
// the build continues, or "" where there is none.
using ChooseEngines =
    std::function<Result<std::shared_ptr<const dsp::FrameEngines>>(std::string_view published)>;

struct BuildRequest {
  // The options as the caller gave them. Phases read the cache's folder and the switches here. What
  // has to be parsed or looked up is a member of its own below.
  BuildOptions options;
  formats::DataFolders data;  // with the audio roots of the last build, where the options name none
  std::vector<formats::CorporaEntry> corpora;  // of DATA, if it is a corpora.yaml
  formats::Recipe recipe;
  // Set: `recipe` is that of the cache, read from the generation with this index. --overwrite then
  // keeps the numbers of its speakers and languages, too.
  std::optional<Digest> recipe_of = {};
  RunConfig run;
  dsp::Isa isa = dsp::Isa::kBest;
  ChooseEngines choose_engines = {};        // null: the CPU
  RejectLimit max_rejects;                  // faults
  LossLimits max_losses;                    // policy drops, vanished clips
  std::vector<std::string> known_speakers;  // numbers 0, 1, ...; each name once
  std::string command = {};  // the command line that asks for this build, for messages
  // Its part that the same build has to name again: " --isa scalar --max-gone 10%".
  std::string lasting_options = {};
  // Builds one part of a cache that merge joins. A published part is done: the same request changes
  // nothing.
  std::optional<PartitionChoice> partition = {};
  // Set: `partition` is this part of a plan. It names the clips in place of DATA's lists; `recipe`,
  // `known_speakers` and the names of folders are the plan's.
  std::shared_ptr<const PlannedPart> part = {};
};

}  // namespace xtts::pipeline
