// ClipWorkers: as many ClipWorkers as process() is called at once, with the sources that their
// segments share. For whoever computes many clips on threads of its own: the build, and verify when
// it computes them again.
//
// Synchronised inside. Memory: WorkerJob::memory_bytes for each that works at once. Disk: what
// WorkerJob and SharedSources say, in scratch files of a folder that is there already.
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

class ClipWorkers {
 public:
  // `clips`: places of those that process() will be asked for.
  ClipWorkers(WorkerJob job, std::span<const std::uint32_t> clips,
              ClipTurns turns = ClipTurns::kOnce);
  // Makes the first worker, and with it the plans of its transforms, which all others share: to be
  // called while no other thread takes memory, for FFTW ends the process where it finds none.
  [[nodiscard]] Status start();

  // As ClipWorker::process. `clip` is one of the corpus, or a copy of one.
  [[nodiscard]] Result<ClipOutcome> process(const corpus::Clip& clip,
                                            std::vector<MadeRecord> buffers);
  // Of all clips so far; while nobody works.
  [[nodiscard]] StageTimes times() const;

 private:
  [[nodiscard]] Result<std::unique_ptr<ClipWorker>> take();

  const WorkerJob job_;
  SharedSources shared_sources_;
  Pool<std::unique_ptr<ClipWorker>> workers_;
};

}  // namespace xtts::records
