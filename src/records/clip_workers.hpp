// ClipWorkers: as many ClipWorkers as process() is called at once, with the sources that their
// segments share. For whoever computes many clips on threads of its own: the build, and verify when
// it computes them again.
//
// Synchronised inside. Memory: `worker_bytes` for each that works at once. Disk: what WorkerPlace
// and SharedSources say, in scratch files of `folder`, which is there already.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "dsp/isa.hpp"
#include "formats/recipe_fwd.hpp"
#include "records/clip_worker.hpp"
#include "records/pool.hpp"
#include "records/shared_sources.hpp"
#include "records/stage_times.hpp"

namespace xtts::records {

// A worker's share of what is left of the memory.
inline constexpr std::uint64_t kWorkerBytesMin = std::uint64_t{2} << 20U;
inline constexpr std::uint64_t kWorkerBytesMax = std::uint64_t{128} << 20U;

// How often each clip is asked for: a source that several share goes with the last of them, or
// stays while there is room.
enum class ClipTurns : std::uint8_t { kOnce, kManyTimes };

// Recipe and corpus must outlive the workers.
struct ClipWorkersJob {
  Env& env;
  const formats::Recipe& recipe;
  dsp::Isa isa = dsp::Isa::kBest;
  const corpus::Corpus& corpus;
  std::string folder;               // for scratch: sound that is too long for the memory, or shared
  audio::MakeDecoder make_decoder;  // as in RunConfig
  std::function<bool()> cancelled = {};  // as in RunConfig
  std::uint64_t worker_bytes = kWorkerBytesMax;
  ClipTurns turns = ClipTurns::kOnce;
};

class ClipWorkers {
 public:
  // `clips`: places of those that process() will be asked for.
  ClipWorkers(ClipWorkersJob job, std::span<const std::uint32_t> clips);

  // As ClipWorker::process. `clip` is one of the corpus, or a copy of one.
  [[nodiscard]] Result<ClipOutcome> process(const corpus::Clip& clip,
                                            std::vector<MadeRecord> buffers);
  // Of all clips so far; while nobody works.
  [[nodiscard]] StageTimes times() const;

 private:
  const ClipWorkersJob job_;
  SharedSources shared_sources_;
  Pool<std::unique_ptr<ClipWorker>> workers_;
};

}  // namespace xtts::records
