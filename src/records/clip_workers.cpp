#include "records/clip_workers.hpp"

#include <utility>

#include "base/try.hpp"

namespace xtts::records {
namespace {

// Counts the clips that are parts of each source: so often will each source be asked for.
std::unordered_map<std::string, std::uint32_t> segment_counts(const corpus::Corpus& corpus,
                                                              std::span<const std::uint32_t> clips,
                                                              ClipTurns turns) {
  std::unordered_map<std::string, std::uint32_t> counts;
  for (const auto place : clips) {
    const corpus::Clip& clip = corpus.clips[place];
    if (!clip.segment) continue;
    std::uint32_t& count = counts[corpus.place_of(clip).key()];
    count = turns == ClipTurns::kOnce ? count + 1 : UINT32_MAX;
  }
  return counts;
}

}  // namespace

ClipWorkers::ClipWorkers(WorkerJob job, std::span<const std::uint32_t> clips, ClipTurns turns)
    : job_(std::move(job)),
      shared_sources_(job_.env, job_.scratch_folder, segment_counts(job_.corpus, clips, turns),
                      job_.shared_bytes_max) {}

Status ClipWorkers::start() {
  XTTS_ASSIGN(auto worker, take());
  workers_.give_back(std::move(worker));
  return {};
}

Result<std::unique_ptr<ClipWorker>> ClipWorkers::take() {
  if (auto worker = workers_.take()) return worker;
  return ClipWorker::create(job_, &shared_sources_);
}

Result<ClipOutcome> ClipWorkers::process(const corpus::Clip& clip,
                                         std::vector<RecordRows> buffers) {
  XTTS_ASSIGN(auto worker, take());
  auto outcome = worker->process(clip, std::move(buffers));
  workers_.give_back(std::move(worker));
  return outcome;
}

Result<ConditionedClip> ClipWorkers::condition(const corpus::Clip& clip,
                                               const corpus::SourcePlace& place) {
  XTTS_ASSIGN(auto worker, take());
  auto conditioned = worker->condition(clip, place);
  workers_.give_back(std::move(worker));
  return conditioned;
}

StageTimes ClipWorkers::times() const {
  StageTimes times;
  for (const auto& worker : workers_.all()) times.add(worker->times());
  return times;
}

}  // namespace xtts::records
