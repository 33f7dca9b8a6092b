#include "pipeline/estimate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "pipeline/clip_worker.hpp"

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
  std::vector<std::byte> rows;
  for (std::size_t i = step / 2; i < plan.to_compute.size(); i += step) {
    const auto& clip = plan.corpus.clips[plan.to_compute[i]];
    if (clip.segment || clip.source_bytes > kSampleSourceBytesMax) continue;
    const auto before = env.now();
    if (before - begin > kSampleTimeMax) break;
    auto outcome = (*worker)->process(clip, std::move(rows));
    if (!outcome) return sample;
    if (outcome->source_seconds > 0.0) {
      sample.sound_seconds += outcome->source_seconds;
      sample.work_seconds += std::chrono::duration<double>(env.now() - before).count();
      sample.source_bytes += clip.source_bytes;
    }
    rows = std::move(outcome->rows);
  }
  return sample;
}

void add_storage(const BuildRequest& request, double seconds, BuildPreview& preview) {
  const auto& features = request.recipe.features;
  const double frames = seconds * features.sample_rate_hz / features.stft.hop_samples;
  const double packed_values = frames * features.channel_count();
  const double padded_values = static_cast<double>(preview.to_compute_count) * features.max_frames *
                               features.channel_count();
  const auto& storage = request.recipe.storage;
  const auto add = [&](formats::Layout layout, DType dtype) {
    const double values =
        layout == formats::Layout::kPadded ? padded_values : std::min(packed_values, padded_values);
    preview.storage.push_back(
        {.name = std::string(layout == formats::Layout::kPadded ? "padded " : "packed ") +
                 std::string(to_string(dtype)),
         .size_bytes = static_cast<std::uint64_t>(values) * size_bytes(dtype),
         .chosen = storage.layout == layout && storage.dtype == dtype});
  };
  const DType half = storage.dtype == DType::kBFloat16 ? DType::kBFloat16 : DType::kFloat16;
  for (const auto layout : {formats::Layout::kPadded, formats::Layout::kPacked}) {
    add(layout, DType::kFloat32);
    add(layout, half);
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
