#include "pipeline/estimate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "pipeline/clip_worker.hpp"
#include "pipeline/columns.hpp"

namespace xtts::pipeline {
namespace {

constexpr std::size_t kSampleClipsMax = 24;
constexpr std::uint64_t kSampleSourceBytesMax = std::uint64_t{8} << 20U;
constexpr double kSampleSecondsMax = 600.0;  // of one clip
constexpr std::chrono::milliseconds kSampleTimeMax(330);

struct Sample {
  double sound_seconds = 0.0;
  double work_seconds = 0.0;
  std::uint64_t source_bytes = 0;
};

Sample take_sample(Env& env, const Plan& plan, const BuildRequest& request) {
  Sample sample;
  formats::Recipe recipe = request.recipe;
  recipe.corpus.max_source_seconds = std::min(recipe.corpus.max_source_seconds, kSampleSecondsMax);
  auto worker = ClipWorker::create(env, recipe, request.isa, plan.corpus,
                                   {.decoder_command = request.run.decoder_command});
  if (!worker) return sample;
  const auto begin = env.now();
  const std::size_t step = std::max<std::size_t>(plan.to_compute.size() / kSampleClipsMax, 1);
  std::vector<MadeRecord> buffers;
  for (std::size_t i = step / 2; i < plan.to_compute.size(); i += step) {
    const auto& clip = plan.corpus.clips[plan.to_compute[i]];
    if (clip.segment || clip.source_bytes > kSampleSourceBytesMax) continue;
    const auto before = env.now();
    if (before - begin > kSampleTimeMax) break;
    auto outcome = (*worker)->process(clip, std::move(buffers));
    if (!outcome) return sample;
    if (outcome->source_seconds > 0.0) {
      sample.sound_seconds += outcome->source_seconds;
      sample.work_seconds += std::chrono::duration<double>(env.now() - before).count();
      sample.source_bytes += clip.source_bytes;
    }
    buffers = std::move(outcome->records);
  }
  return sample;
}

void add_storage(const BuildRequest& request, double seconds, BuildPreview& preview) {
  const auto& features = request.recipe.features;
  const double padded_frames = static_cast<double>(preview.to_compute_count) * features.max_frames;
  const double packed_frames =
      std::min(seconds * features.sample_rate_hz / features.stft.hop_samples, padded_frames);
  const auto& storage = request.recipe.storage;
  // The dtype is theirs.
  const bool has_frames = features.columns.mel || features.columns.linear;
  const auto add = [&](formats::Layout layout, DType dtype) {
    formats::Recipe so_stored = request.recipe;
    so_stored.storage.dtype = dtype;
    double frame_bytes = 0.0;
    for (const formats::ColumnSpec& column : sound_columns(so_stored, {}))
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

}  // namespace

void estimate(Env& env, const Plan& plan, const BuildRequest& request, BuildPreview& preview) {
  if (plan.to_compute.empty()) return;
  const Sample sample = take_sample(env, plan, request);
  // Lists tell the lengths of segments; those of whole sources are guessed from their bytes.
  double seconds = 0.0;
  std::uint64_t bytes = 0;
  for (const auto place : plan.to_compute) {
    const corpus::Clip& clip = plan.corpus.clips[place];
    if (!clip.segment) {
      bytes += clip.source_bytes;
    } else if (clip.segment->end_s) {
      seconds += *clip.segment->end_s - clip.segment->start_s;
    }
  }
  if (bytes > 0) {
    if (sample.source_bytes == 0) return;
    seconds += sample.sound_seconds * static_cast<double>(bytes) /
               static_cast<double>(sample.source_bytes);
  }
  if (seconds == 0.0) return;
  preview.sound_seconds = seconds;
  if (sample.sound_seconds > 0.0) {
    const auto total = static_cast<double>(std::max<std::uint64_t>(preview.to_compute_count, 1));
    const double left = (total - static_cast<double>(preview.sealed_count)) / total;
    preview.build_seconds =
        sample.work_seconds / sample.sound_seconds * seconds * left / request.run.thread_count;
  }
  add_storage(request, seconds, preview);
}

}  // namespace xtts::pipeline
