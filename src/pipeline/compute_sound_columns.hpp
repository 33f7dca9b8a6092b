// Computes the columns made of sound: turns clips to compute into sealed shards (README.md beside
// this file). Called from one thread; works on RunConfig::thread_count threads and one for sealing.
#pragma once

#include <vector>

#include "base/env.hpp"
#include "dsp/frame_engine.hpp"
#include "formats/block.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/sealed_work.hpp"
#include "records/stage_times.hpp"
#include "store/cache_folder.hpp"
#include "store/journal.hpp"

namespace xtts::pipeline {

class BuildObserver;
struct BuildRequest;

struct SoundColumnsJob {
  Env& env;
  const BuildPlan& plan;
  reader::CacheView* previous = nullptr;  // the cache that renamed clips are copied from
  const SealedWork& sealed;               // by an interrupted build
  const BuildRequest& request;
  const std::vector<formats::ColumnSpec>& columns;
  std::shared_ptr<const dsp::FrameEngines> engines = {};  // null: the CPU's
  std::uint64_t generation = 1;
  std::uint64_t first_ordinal = 0;  // number of shards that each column already has
};

struct SoundColumnsResult {
  // The shards of all `plan.to_compute`, in planned order: first those that stay, then the new
  // ones.
  std::vector<store::JournalShard> shards;
  records::StageTimes times;
};

[[nodiscard]] Result<SoundColumnsResult> compute_sound_columns(const SoundColumnsJob& job,
                                                               store::CacheFolder& folder,
                                                               store::Journal& journal,
                                                               BuildObserver& observer);

}  // namespace xtts::pipeline
