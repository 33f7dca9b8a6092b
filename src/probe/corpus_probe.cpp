#include "probe/corpus_probe.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include "base/formatted.hpp"
#include "base/run_on_threads.hpp"
#include "base/try.hpp"
#include "formats/feature_config.hpp"
#include "pipeline/live_clips.hpp"
#include "probe/fixed_random.hpp"
#include "report/reasons.hpp"

namespace xtts::probe {
namespace {

using Clock = std::chrono::steady_clock;

// Enough that one clip hardly counts, and few enough to be decoded in seconds.
constexpr std::size_t kSampleMax = 512;

std::vector<std::uint64_t> random_positions(std::uint64_t count) {
  FixedRandom random;
  std::vector<std::uint64_t> positions;
  if (count <= kSampleMax) {
    positions.resize(count);
    std::iota(positions.begin(), positions.end(), 0U);
    std::shuffle(positions.begin(), positions.end(), random);
    return positions;
  }
  std::set<std::uint64_t> chosen;
  while (positions.size() < kSampleMax) {
    const std::uint64_t position = random() % count;
    if (chosen.insert(position).second) positions.push_back(position);
  }
  return positions;
}

}  // namespace

CorpusProbe::CorpusProbe(std::unique_ptr<pipeline::LiveClips> clips)
    : clips_(std::move(clips)), sample_(random_positions(clips_->size())) {
  is_noted_.resize(sample_.size());
  sound_.corpus_clip_count = clips_->size();
  std::set<std::string> seen;  // segments share their source
  for (const corpus::Clip& clip : clips_->plan().corpus.clips) {
    if (!clip.segment || seen.insert(std::string(clip.source.view())).second)
      source_bytes_ += clip.source_bytes;
  }
}

CorpusProbe::~CorpusProbe() = default;

Result<std::unique_ptr<CorpusProbe>> CorpusProbe::open(Env& env, pipeline::BuildRequest request,
                                                       const std::string& scratch_folder) {
  XTTS_ASSIGN(auto clips, pipeline::LiveClips::open(env, std::move(request), scratch_folder));
  return std::unique_ptr<CorpusProbe>(new CorpusProbe(std::move(clips)));
}

std::uint64_t CorpusProbe::clip_count() const noexcept {
  return clips_->size();
}

const std::string& CorpusProbe::layout() const noexcept {
  return clips_->plan().corpus.layout;
}

const formats::Recipe& CorpusProbe::recipe() const noexcept {
  return clips_->recipe();
}

std::uint64_t CorpusProbe::record_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const formats::ColumnEntry& column : clips_->columns()) bytes += column.spec.record_bytes();
  return bytes;
}

Extent CorpusProbe::extent_of(std::uint64_t position) const {
  const corpus::Clip& clip = clips_->clip(position);
  const corpus::SourcePlace place = clips_->plan().corpus.place_of(clip);
  if (place.range) return {place.path, place.range->offset_bytes, place.range->size_bytes};
  return {.path = place.path, .size_bytes = clip.source_bytes};
}

std::vector<Extent> CorpusProbe::extents() const {
  std::vector<Extent> extents;
  for (const std::uint64_t position : sample_) extents.push_back(extent_of(position));
  return extents;
}

std::vector<Extent> CorpusProbe::neighbours() const {
  constexpr std::size_t kRuns = 4;
  constexpr std::uint64_t kRunBytes = std::uint64_t{16} << 20U;
  constexpr std::uint64_t kRunClips = 1024;
  std::vector<std::uint64_t> starts(
      sample_.begin(),
      sample_.begin() + static_cast<std::ptrdiff_t>(std::min(kRuns, sample_.size())));
  std::ranges::sort(starts);
  std::vector<Extent> extents;
  std::uint64_t next = 0;  // nothing is read twice
  for (const std::uint64_t start : starts) {
    std::uint64_t bytes = 0;
    const std::uint64_t end = std::min(start + kRunClips, clips_->size());
    for (next = std::max(next, start); next < end && bytes < kRunBytes; ++next) {
      extents.push_back(extent_of(next));
      bytes += extents.back().size_bytes;
    }
  }
  return extents;
}

std::vector<Extent> CorpusProbe::read_extents() const {
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < sample_.size(); ++i)
    if (is_noted_[i]) extents.push_back(extent_of(sample_[i]));
  return extents;
}

CorpusProbe::Faults CorpusProbe::faults() const {
  const auto first = clips_->first_fault();
  return {.count = clips_->fault_count(),
          .allowed = clips_->faults_allowed(),
          .first = first ? formatted("{}: {}", formats::place_of(*first), report::words_of(*first))
                         : std::string()};
}

std::vector<std::string> CorpusProbe::whole_files(std::size_t count_max) const {
  std::vector<std::string> files;
  for (const std::uint64_t position : sample_) {
    const corpus::Clip& clip = clips_->clip(position);
    if (files.size() == count_max) break;
    if (!clip.range && !clip.segment) files.push_back(clips_->plan().corpus.path_of(clip));
  }
  return files;
}

void CorpusProbe::note(const pipeline::LiveRecord& record) {
  if (record.reject) {
    ++sound_.reject_count;
    ++sound_.rejects[report::words_of(*record.reject)];
    return;
  }
  ++sound_.clip_count;
  frames_ += record.frame_count;
  sound_.mean_frames = static_cast<double>(frames_) / static_cast<double>(sound_.clip_count);
  ++sound_.formats[{record.facts.container.value_or("unknown"),
                    record.facts.codec.value_or("unknown")}];
  const auto wanted = clips_->recipe().features->sample_rate_hz;
  if (record.facts.source_rate_hz && *record.facts.source_rate_hz != wanted)
    ++sound_.resampled_count;
}

Result<ComputeRates> CorpusProbe::measure(std::uint32_t worker_count, std::uint32_t round_count,
                                          std::chrono::milliseconds round,
                                          const std::function<bool()>& cancelled) {
  std::mutex mutex;
  Status failure;
  const auto run_round = [&](std::uint32_t threads, std::chrono::milliseconds length) {
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
    const auto begin = Clock::now();
    run_on_threads(threads, [&] {
      std::vector<RecordRows> buffers;
      while (Clock::now() - begin < length && !(cancelled && cancelled())) {
        const std::size_t index = next.fetch_add(1) % sample_.size();
        auto made = clips_->record(sample_[index], std::move(buffers));
        const std::scoped_lock lock(mutex);
        if (!made.ok()) {
          if (failure.ok()) failure = made.status();
          return;
        }
        if (!is_noted_[index]) note(*made);
        is_noted_[index] = true;
        if (!made->reject) done.fetch_add(1);  // a known reject costs nothing
        buffers = std::move(made->records);
      }
    });
    return static_cast<double>(done.load()) /
           std::chrono::duration<double>(Clock::now() - begin).count();
  };
  ComputeRates rates;
  rates.way = "xtts-precompute";
  rates.worker_count = std::max(worker_count, 1U);
  (void)run_round(rates.worker_count, round);
  for (std::uint32_t i = 0; i < round_count && failure.ok(); ++i) {
    rates.one.push_back(run_round(1, round / 2));
    if (rates.worker_count > 1) rates.all.push_back(run_round(rates.worker_count, round));
  }
  if (rates.worker_count == 1) rates.all = rates.one;
  XTTS_TRY(failure);
  if (cancelled && cancelled()) return Status(StatusCode::kCancelled, "stopped while measuring");
  return rates;
}

}  // namespace xtts::probe
