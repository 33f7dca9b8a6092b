// BuildRequest: what a build is asked to do. A plain value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dsp/isa.hpp"
#include "formats/corpora.hpp"
#include "formats/recipe.hpp"
#include "pipeline/limits.hpp"
#include "pipeline/partition_choice.hpp"
#include "pipeline/run_config.hpp"

namespace xtts::pipeline {

struct BuildRequest {
  std::string data;
  std::vector<formats::CorporaEntry> corpora;  // of DATA, where it is a corpora.yaml
  std::vector<std::string> audio_roots = {};   // folders outside of DATA that hold audio, too
  std::string cache;
  formats::Recipe recipe;
  RunConfig run;
  dsp::Isa isa = dsp::Isa::kBest;
  RejectLimit max_rejects;                  // faults
  LossLimits max_losses;                    // policy drops, vanished clips
  bool without_text = false;                // lists that cannot be read are no reason to stop then
  std::vector<std::string> known_speakers;  // numbers 0, 1, ... of a new cache
  bool overwrite = false;                   // begin anew beside whatever is published
  // With overwrite: only beside the generation of this index. Another one, published since the
  // caller looked, is brought up to date.
  std::string overwrite_only;
  bool allow_mixed = false;  // update a cache that another CPU or library version made
  bool retry_rejects = false;
  bool dry_run = false;  // stop after before()
  // One part of a cache that merge joins. A published part is done: the same request changes
  // nothing.
  std::optional<PartitionChoice> partition = {};
};

}  // namespace xtts::pipeline
