// The columns made of sound: clips to compute -> sealed shards (README.md beside this file).
// Called from one thread; works on `run.thread_count` threads and one for sealing.
#pragma once

#include <vector>

#include "base/env.hpp"
#include "dsp/isa.hpp"
#include "formats/block.hpp"
#include "formats/recipe_fwd.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/run_config.hpp"
#include "records/stage_times.hpp"
#include "store/cache_folder.hpp"
#include "store/journal.hpp"

namespace xtts::pipeline {

class BuildObserver;

struct SoundColumnsJob {
  Env& env;
  const Plan& plan;
  reader::CacheView* previous = nullptr;  // what renamed clips are copied from
  const formats::Recipe& recipe;
  const std::vector<formats::ColumnSpec>& columns;
  const RunConfig& run;
  dsp::Isa isa = dsp::Isa::kBest;
  std::uint64_t generation = 1;
  std::uint64_t first_ordinal = 0;  // shards that each column has already
};

struct SoundColumnsResult {
  // All of `plan.to_compute`, in planned order: those of the journal, then the new ones.
  std::vector<store::JournalShard> shards;
  records::StageTimes times;
};

[[nodiscard]] Result<SoundColumnsResult> compute_sound_columns(const SoundColumnsJob& job,
                                                               store::CacheFolder& folder,
                                                               store::Journal::Opened& journal,
                                                               BuildObserver& observer);

}  // namespace xtts::pipeline
