// ClipWorkers: one ClipWorker for each concurrent process() call, with the sources that their
// segments share. It serves code that computes many clips on its own threads: the build, verify
// when it recomputes clips, and readers of the sound itself.
//
// Synchronised inside. Memory: WorkerJob::memory_bytes for each worker in use. Disk: what WorkerJob
// and SharedSources say, in scratch files of a folder that must exist.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "corpus/clips/clip.hpp"
#include "dsp/isa.hpp"
#include "formats/recipe_fwd.hpp"
#include "records/clip_worker.hpp"
#include "records/pool.hpp"
#include "records/shared_sources.hpp"
#include "records/stage_times.hpp"

namespace xtts::records {

// Bounds of a worker's share of the remaining memory.
inline constexpr std::uint64_t kWorkerBytesMin = std::uint64_t{2} << 20U;
inline constexpr std::uint64_t kWorkerBytesMax = std::uint64_t{128} << 20U;

// How often each clip is asked for. With kOnce a shared source is freed after its last clip; with
// kManyTimes it stays while there is room.
enum class ClipTurns : std::uint8_t { kOnce, kManyTimes };

class ClipWorkers {
 public:
  // `clips`: the places of all clips that process() will be asked for.
  ClipWorkers(WorkerJob job, std::span<const std::uint32_t> clips,
              ClipTurns turns = ClipTurns::kOnce);
  // Makes the first worker and the transform plans that all workers share. Call it while no other
  // thread allocates: FFTW ends the process when it finds no memory.
  [[nodiscard]] Status start();

  // Works like ClipWorker::process. `clip` is one of the corpus, or a copy of one.
  [[nodiscard]] Result<ClipOutcome> process(const corpus::Clip& clip,
                                            std::vector<RecordRows> buffers);
  // Works like ClipWorker::condition.
  [[nodiscard]] Result<ConditionedClip> condition(const corpus::Clip& clip,
                                                  const corpus::SourcePlace& place);
  // Works like SharedSources::expect.
  void expect(const std::string& source_key, std::uint32_t clip_count) {
    shared_sources_.expect(source_key, clip_count);
  }
  // Sums the times of all clips so far. Call it only while no worker works.
  [[nodiscard]] StageTimes times() const;

 private:
  [[nodiscard]] Result<std::unique_ptr<ClipWorker>> take();

  const WorkerJob job_;
  SharedSources shared_sources_;
  Pool<std::unique_ptr<ClipWorker>> workers_;
};

}  // namespace xtts::records
