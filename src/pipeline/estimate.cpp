#include "pipeline/estimate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <vector>

#include "base/lap_timer.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "formats/rules.hpp"
#include "pipeline/build_observer.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/clip_sample.hpp"
#include "records/clip_worker.hpp"
#include "records/columns.hpp"
#include "records/too_long.hpp"

namespace xtts::pipeline {
namespace {

constexpr std::size_t kSampleClipsMax = 96;
constexpr std::uint64_t kSampleSourceBytesMax = std::uint64_t{8} << 20U;
constexpr double kSampleSecondsMax = 600.0;  // of one clip
constexpr double kFixedSeconds = 0.5;
constexpr double kFixedSecondsMax = 2.0;  // if few clips are measured by then
constexpr std::size_t kFewClips = 12;
constexpr double kSlowestPace = 4.0;  // of a clip, as a multiple of the median
constexpr double kShare = 0.02;       // of the build
// Lower bounds that hold before anything is measured: the time of a clip, and the time in which a
// worker's process starts.
constexpr double kClipSecondsMin = 0.0015;
constexpr double kStartSeconds = 0.03;
// Margins for what a sample does not show: other clips on the machine's other cores, the disk, the
// caches.
constexpr double kFaster = 0.8;
constexpr double kSlower = 1.75;

struct Measured {
  double bytes = 0.0;
  double sound_seconds = 0.0;
  double work_seconds = 0.0;
  double frames = 0.0;
  std::size_t count = 0;

  void add(const Measured& other) {
    bytes += other.bytes;
    sound_seconds += other.sound_seconds;
    work_seconds += other.work_seconds;
    frames += other.frames;
    count += other.count;
  }
};

struct Sample {
  std::vector<Measured> of_kind;
  std::vector<std::pair<std::uint32_t, Measured>> of_clip;  // by kind
  Measured all;
  std::optional<double> features_share;  // of the computing time
};

// Returns the clips that are left to compute by decoding.
std::vector<std::uint32_t> clips_left(const BuildPlan& plan, std::uint64_t sealed_count) {
  std::vector<std::uint32_t> left;
  for (std::size_t i = sealed_count; i < plan.to_compute.size(); ++i) {
    if (!plan.clips[plan.to_compute[i]].copied_from) left.push_back(plan.to_compute[i]);
  }
  return left;
}

class Sampler {
 public:
  Sampler(Env& env, const BuildPlan& plan, const BuildRequest& request, SampleBudget budget,
          std::shared_ptr<const dsp::FrameEngines> engines)
      : env_(env),
        plan_(plan),
        request_(request),
        budget_(budget),
        engines_(std::move(engines)),
        recipe_(request.recipe) {
    recipe_.corpus.max_source_seconds =
        std::min(recipe_.corpus.max_source_seconds, kSampleSecondsMax);
  }

  Sample take(std::span<const std::uint32_t> whole_sources, const ClipSample& chosen) {
    Sample sample;
    sample.of_kind.resize(chosen.kind_count);
    if (chosen.clips.empty()) return sample;
    for (const std::uint32_t place : whole_sources)
      total_bytes_ += static_cast<double>(plan_.corpus.clips[place].source_bytes);
    begin_ = env_.now();
    const records::WorkerJob job{.env = env_,
                                 .recipe = recipe_,
                                 .isa = request_.isa,
                                 .engines = engines_,
                                 .corpus = plan_.corpus,
                                 .make_decoder = request_.run.make_decoder,
                                 .cancelled = request_.run.cancelled};
    auto worker = records::ClipWorker::create(job);
    if (!worker) return sample;
    std::vector<std::uint32_t> kind_of(plan_.corpus.clips.size(), 0);
    for (std::size_t i = 0; i < whole_sources.size(); ++i)
      kind_of[whole_sources[i]] = chosen.kinds[i];
    // The first clip is measured twice: its first run includes a starting process and cold code.
    if (!measure(**worker, chosen.clips.front())) return sample;
    const records::StageTimes cold = (*worker)->times();
    for (const std::uint32_t place : chosen.clips) {
      if (sample.all.count > 0 && is_spent(sample.all)) break;
      const auto measured = measure(**worker, place);
      if (!measured) return sample;
      if (measured->count == 0) continue;
      sample.of_clip.emplace_back(kind_of[place], *measured);
      sample.all.add(*measured);
    }
    forget_waits(sample);
    const records::StageTimes all = (*worker)->times();
    const double computing_s = all.computing_s() - cold.computing_s();
    if (computing_s > 0.0) sample.features_share = (all.features_s - cold.features_s) / computing_s;
    return sample;
  }

 private:
  // Drops the time that a clip waited for another program. The model scales each clip's time to all
  // clips, so one wait would distort it.
  static void forget_waits(Sample& sample) {
    std::vector<double> paces;
    for (const auto& [kind, one] : sample.of_clip)
      paces.push_back(one.work_seconds / one.sound_seconds);
    std::ranges::sort(paces);
    sample.all = {};
    for (auto& [kind, one] : sample.of_clip) {
      const double most = kSlowestPace * paces[paces.size() / 2] * one.sound_seconds;
      one.work_seconds = std::min(one.work_seconds, most);
      sample.of_kind[kind].add(one);
      sample.all.add(one);
    }
  }

  // Returns nullopt if nothing more can be measured. A clip without sound counts for nothing.
  std::optional<Measured> measure(records::ClipWorker& worker, std::uint32_t place) {
    const corpus::Clip& clip = plan_.corpus.clips[place];
    const auto before = env_.now();
    auto outcome = worker.process(clip, std::move(buffers_));
    if (!outcome) return std::nullopt;
    buffers_ = std::move(outcome->records);
    if (!(outcome->source_seconds > 0.0)) return Measured{};
    return Measured{.bytes = static_cast<double>(clip.source_bytes),
                    .sound_seconds = outcome->source_seconds,
                    .work_seconds = seconds_of(env_.now() - before),
                    .frames = static_cast<double>(outcome->frame_count_before_cut),
                    .count = 1};
  }

  [[nodiscard]] bool is_spent(const Measured& all) const {
    const double spent_s = seconds_of(env_.now() - begin_);
    if (budget_ == SampleBudget::kFixed)
      return spent_s > (all.count < kFewClips ? kFixedSecondsMax : kFixedSeconds);
    const double next_s = all.work_seconds / static_cast<double>(all.count);
    const double build_s =
        all.work_seconds / std::max(all.bytes, 1.0) * total_bytes_ / request_.run.thread_count;
    return spent_s + next_s > kShare * build_s;
  }

  Env& env_;
  const BuildPlan& plan_;
  const BuildRequest& request_;
  const SampleBudget budget_;
  const std::shared_ptr<const dsp::FrameEngines> engines_;
  formats::Recipe recipe_;
  std::chrono::nanoseconds begin_{};
  double total_bytes_ = 0.0;
  std::vector<RecordRows> buffers_;
};

// The number of clips that may be measured before the time of one is known.
std::size_t clips_allowed(SampleBudget budget, std::size_t left_count, std::uint32_t threads) {
  if (budget == SampleBudget::kFixed) return kSampleClipsMax;
  const double build_s = static_cast<double>(left_count) * kClipSecondsMin / threads;
  if (kShare * build_s < kStartSeconds) return 0;
  const double share = kShare * static_cast<double>(left_count) / threads;
  return std::min(kSampleClipsMax, static_cast<std::size_t>(share));
}

// Estimates a clip outside the sample from its kind, or else from all clips.
class Model {
 public:
  explicit Model(const Sample& sample) : sample_(sample) {}

  [[nodiscard]] Measured of(std::uint32_t kind, double bytes) const {
    const Measured& known = sample_.of_kind[kind].count > 0 ? sample_.of_kind[kind] : sample_.all;
    const double factor = known.bytes > 0.0 ? bytes / known.bytes : 0.0;
    return {.bytes = bytes,
            .sound_seconds = known.sound_seconds * factor,
            .work_seconds = known.work_seconds * factor,
            .frames = known.frames * factor,
            .count = 1};
  }
  [[nodiscard]] Measured of_seconds(double seconds, double frames) const {
    const double work = sample_.all.sound_seconds > 0.0
                            ? sample_.all.work_seconds / sample_.all.sound_seconds * seconds
                            : 0.0;
    return {
        .bytes = 0.0, .sound_seconds = seconds, .work_seconds = work, .frames = frames, .count = 1};
  }
  // Twice the relative standard error of the work: how far the clips of the sample are from the
  // model.
  [[nodiscard]] double uncertainty() const {
    const std::size_t count = sample_.of_clip.size();
    if (count < 4) return 0.5;
    double squares = 0.0;
    double sum = 0.0;
    for (const auto& [kind, measured] : sample_.of_clip) {
      const double expected = of(kind, measured.bytes).work_seconds;
      squares += (measured.work_seconds - expected) * (measured.work_seconds - expected);
      sum += expected;
    }
    if (!(sum > 0.0)) return 0.5;  // a clock that stands still
    const auto n = static_cast<double>(count);
    const double deviation = std::sqrt(squares / (n - 1.0));
    return std::min(2.0 * deviation / std::sqrt(n) / (sum / n), 0.7);
  }

 private:
  const Sample& sample_;
};

void add_storage(const BuildRequest& request, double packed_frames, BuildPreview& preview) {
  const auto& features = *request.recipe.features;
  const double padded_frames = static_cast<double>(preview.to_compute_count) * features.max_frames;
  const auto& storage = request.recipe.storage;
  // The dtype applies to frames only.
  const bool has_frames = features.columns.mel || features.columns.linear;
  const auto add = [&](formats::Layout layout, DType dtype) {
    formats::Recipe so_stored = request.recipe;
    so_stored.storage.dtype = dtype;
    double frame_bytes = 0.0;
    for (const formats::ColumnSpec& column : records::sound_column_forms(so_stored))
      frame_bytes += static_cast<double>(column.record_bytes()) / features.max_frames;
    preview.storage.push_back(
        {.name = std::string(layout == formats::Layout::kPadded ? "padded" : "packed") +
                 (has_frames ? " " + std::string(to_string(dtype)) : ""),
         .size_bytes = static_cast<std::uint64_t>(
             frame_bytes * (layout == formats::Layout::kPadded ? padded_frames : packed_frames)),
         .chosen = storage.layout == layout && storage.dtype == dtype});
  };
  const DType half = storage.dtype == DType::kBFloat16 ? DType::kBFloat16 : DType::kFloat16;
  for (const auto layout : {formats::Layout::kPadded, formats::Layout::kPacked}) {
    add(layout, DType::kFloat32);
    if (has_frames) add(layout, half);
  }
}

// Rounds up to a value for people to type: slightly more than the sample's longest clip.
double rounded_up(double frames) {
  return std::ceil(frames * 1.02 / 16.0) * 16.0;
}

}  // namespace

void estimate(Env& env, const BuildPlan& plan, const BuildRequest& request, SampleBudget budget,
              const std::shared_ptr<const dsp::FrameEngines>& engines, BuildPreview& preview) {
  if (plan.corpus.is_stream) return;  // a sample would cost a pass for each of its clips
  const std::vector<std::uint32_t> left = clips_left(plan, preview.sealed_count);
  std::vector<std::uint32_t> whole_sources;
  for (const std::uint32_t place : left) {
    if (!plan.corpus.clips[place].segment) whole_sources.push_back(place);
  }
  const std::uint32_t threads = std::max<std::uint32_t>(request.run.thread_count, 1);
  const ClipSample chosen =
      sample_clips(plan.corpus, whole_sources, clips_allowed(budget, left.size(), threads),
                   kSampleSourceBytesMax);
  const Sample sample = Sampler(env, plan, request, budget, engines).take(whole_sources, chosen);
  if (engines != nullptr && budget == SampleBudget::kFixed) {
    preview.most_saved_share =
        Sampler(env, plan, request, budget, nullptr).take(whole_sources, chosen).features_share;
  }
  if (sample.all.count == 0 && !whole_sources.empty()) return;
  const Model model(sample);
  const auto& features = *request.recipe.features;
  const double frames_a_second =
      static_cast<double>(features.sample_rate_hz) / features.stft.hop_samples;

  Measured total;
  double stored_frames = 0.0;
  std::vector<double> too_long;  // frames of clips that would be dropped
  double dropped_seconds = 0.0;
  std::size_t next_whole = 0;
  for (const std::uint32_t place : left) {
    const corpus::Clip& clip = plan.corpus.clips[place];
    Measured one;
    if (!clip.segment) {
      one = model.of(chosen.kinds[next_whole++], static_cast<double>(clip.source_bytes));
    } else if (clip.segment->end_s) {
      const double seconds = *clip.segment->end_s - clip.segment->start_s;
      one = model.of_seconds(seconds, seconds * frames_a_second);
    }
    total.add(one);
    if (one.frames <= features.max_frames) {
      stored_frames += one.frames;
    } else if (records::rule_of(features, has_text(clip)) == formats::TooLong::kDrop) {
      too_long.push_back(rounded_up(one.frames));
      dropped_seconds += one.sound_seconds;
    } else {
      stored_frames += features.max_frames;
      ++preview.expected_cut_count;
    }
  }
  if (!(total.sound_seconds > 0.0)) return;
  // Clips that were sealed before count as equally long, on average.
  const auto left_count = static_cast<double>(left.size());
  const double scale = static_cast<double>(preview.to_compute_count) / left_count;
  preview.sound_seconds = total.sound_seconds * scale;
  if (sample.all.count > 0) {
    const double build_s = total.work_seconds / threads;
    const double uncertainty = model.uncertainty();
    preview.build_seconds = build_s;
    preview.build_seconds_range = {build_s * (1.0 - uncertainty) * kFaster,
                                   build_s * (1.0 + uncertainty) * kSlower};
  }
  if (!too_long.empty()) {
    const double found = static_cast<double>(preview.clip_count);
    preview.expected_drop_share = std::max(static_cast<double>(too_long.size()) / found,
                                           dropped_seconds / total.sound_seconds);
    const std::uint64_t stored = preview.reused_count + preview.to_compute_count - too_long.size();
    preview.expected_drops = remedy_of(formats::Rule::kTooLong, std::move(too_long), request.recipe,
                                       preview.clip_count, stored);
  }
  add_storage(request, stored_frames * scale, preview);
}

}  // namespace xtts::pipeline
