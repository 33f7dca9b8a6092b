// log_mel_bench [THREADS] [CLIPS]: log-mels of clips that are decoded already, on the GPU and on
// the CPU in one run, by the recipes' defaults in double. It also compares the two. It prints rows
// of a table in Markdown.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/try.hpp"
#include "dsp/extract.hpp"
#include "dsp_cuda/cuda_frame_engine.hpp"
#include "formats/feature_config.hpp"

namespace {

using namespace xtts;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kSamples = 143'325;  // 6.5 s at 22,050 Hz
constexpr double kClipSeconds = 6.5;
constexpr double kDifferenceMax = 1e-5;  // src/dsp_cuda/README.md promises it

using Extractors = std::vector<dsp::FeatureExtractor>;

std::vector<float> made_clip() {
  std::mt19937 random(27);
  std::normal_distribution<float> noise(0.0F, 0.1F);
  std::vector<float> samples(kSamples);
  for (float& sample : samples) sample = noise(random);
  return samples;
}

Result<Extractors> extractors_on(const dsp::FrameEngines* gpu, const formats::FeatureConfig& config,
                                 std::size_t count) {
  Extractors made;
  while (made.size() < count) {
    XTTS_ASSIGN(auto extractor, gpu == nullptr ? dsp::FeatureExtractor::create(config)
                                               : dsp::FeatureExtractor::create(config, *gpu));
    made.push_back(std::move(extractor));
  }
  return made;
}

// Each extractor has a thread. Returns the wall time of `clip_count` clips.
Result<double> time_clips(Extractors& extractors, const std::vector<float>& clip,
                          std::size_t clip_count, std::size_t mel_count) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  Status failure;  // the first one
  const Clock::time_point begin = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (dsp::FeatureExtractor& extractor : extractors) {
      threads.emplace_back([&] {
        std::vector<float> mel(mel_count);
        while (next++ < clip_count) {
          const auto extracted = extractor.extract(clip, mel);
          const std::scoped_lock lock(mutex);
          if (failure.ok()) failure = extracted.status();
        }
      });
    }
  }
  XTTS_TRY(failure);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Status run(std::size_t thread_count, std::size_t clip_count) {
  formats::FeatureConfig config;
  const std::vector<float> clip = made_clip();
  XTTS_ASSIGN(const auto gpu, dsp_cuda::CudaFrameEngines::open(0));
  XTTS_ASSIGN(Extractors on_gpu, extractors_on(gpu.get(), config, thread_count));
  XTTS_ASSIGN(Extractors on_cpu, extractors_on(nullptr, config, thread_count));
  const std::size_t mel_count = on_cpu.front().frame_count(kSamples) * config.channel_count();
  std::vector<float> from_gpu(mel_count);
  std::vector<float> from_cpu(mel_count);
  XTTS_ASSIGN(const auto counted, on_gpu.front().extract(clip, from_gpu));
  XTTS_TRY(on_cpu.front().extract(clip, from_cpu).status());
  double difference = 0;
  for (std::size_t i = 0; i < mel_count; ++i) {
    difference = std::max(difference, std::abs(double{from_gpu[i]} - double{from_cpu[i]}));
  }
  double gpu_s = 1e9;
  double cpu_s = 1e9;
  for (int i = 0; i < 3; ++i) {  // in turn, the best of three
    XTTS_ASSIGN(const double gpu_now, time_clips(on_gpu, clip, clip_count, mel_count));
    XTTS_ASSIGN(const double cpu_now, time_clips(on_cpu, clip, clip_count, mel_count));
    gpu_s = std::min(gpu_s, gpu_now);
    cpu_s = std::min(cpu_s, cpu_now);
  }
  const double sound_s = kClipSeconds * static_cast<double>(clip_count);
  std::printf("| log-mels of decoded clips, %zu threads, on the GPU | %.0f times real time |\n",
              thread_count, sound_s / gpu_s);
  std::printf("| the same on the CPU | %.0f times real time |\n", sound_s / cpu_s);
  std::printf("| largest difference of the two, %u frames | %.1e |\n", counted.frame_count,
              difference);
  if (difference <= kDifferenceMax) return {};
  return {StatusCode::kMismatch, "the GPU's log-mels differ by more than 1e-5 from the CPU's"};
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : cores;
  const std::size_t clips = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 4000;
  const Status status = run(threads, clips);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}
