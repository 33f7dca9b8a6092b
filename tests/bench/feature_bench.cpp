// PCM -> log-mel of the myxtts recipe on one core, whole and by step, a 6.5 s clip of noise at
// 22,050 Hz.
//   feature_bench --benchmark_repetitions=9 --benchmark_report_aggregates_only
// us_per_frame and x_real_time are what RESULTS.md quotes (the median of the repetitions).
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

#include "dsp/aligned_buffer.hpp"
#include "dsp/condition.hpp"
#include "dsp/extract.hpp"
#include "dsp/fft.hpp"
#include "dsp/kernels.hpp"
#include "dsp/mel_filters.hpp"
#include "formats/feature_config.hpp"

namespace {

using namespace xtts;
using namespace xtts::dsp;

constexpr double kSeconds = 6.5;
constexpr std::size_t kHalf = 512;
constexpr std::size_t kStride = 520;

std::vector<float> noise(std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0F, 0.1F);
  std::vector<float> samples(count);
  for (float& sample : samples) sample = normal(random);
  return samples;
}

formats::FeatureConfig myxtts_config(formats::Precision precision) {
  formats::FeatureConfig config;
  config.trim.method = formats::TrimMethod::kTopDb;
  config.loudness.method = formats::LoudnessMethod::kRms;
  config.loudness.then_peak_to_one = true;
  config.stft.pad_mode = formats::PadMode::kZeros;
  config.precision = precision;
  return config;
}

void per_frame(benchmark::State& state, std::uint64_t frames) {
  const auto count = static_cast<double>(state.iterations()) * static_cast<double>(frames);
  state.counters["us_per_frame"] =
      benchmark::Counter(count / 1e6, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void whole(benchmark::State& state, formats::Precision precision, Isa isa) {
  Result<FeatureExtractor> extractor = FeatureExtractor::create(myxtts_config(precision), isa);
  if (!extractor.ok()) return state.SkipWithError(extractor.status().message().c_str());
  const std::vector<float> clip = noise(static_cast<std::size_t>(kSeconds * 22050));
  const std::uint64_t frames = extractor->frame_count(clip.size());
  std::vector<float> mel(frames * 80);
  for (auto _ : state) {
    if (!extractor->extract(clip, mel).ok()) return state.SkipWithError("rejected");
    benchmark::DoNotOptimize(mel.data());
  }
  per_frame(state, frames);
  state.counters["x_real_time"] = benchmark::Counter(
      kSeconds * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void condition(benchmark::State& state) {
  Result<Conditioner> conditioner = Conditioner::create(myxtts_config(formats::Precision::kDouble));
  if (!conditioner.ok()) return state.SkipWithError(conditioner.status().message().c_str());
  const std::vector<float> clip = noise(static_cast<std::size_t>(kSeconds * 22050));
  std::vector<float> samples;
  for (auto _ : state) {
    samples.assign(clip.begin(), clip.end());
    if (!conditioner->apply(samples).ok()) return state.SkipWithError("rejected");
    benchmark::DoNotOptimize(samples.data());
  }
  per_frame(state, 560);
}

template <typename Real>
const FrameKernels<Real>& frame_kernels() {
  if constexpr (std::is_same_v<Real, double>)
    return find_kernels(Isa::kBest)->in_double;
  else
    return find_kernels(Isa::kBest)->in_float;
}

template <typename Real>
void window_and_fft(benchmark::State& state) {
  Result<ComplexFft<Real>> fft = ComplexFft<Real>::create(kHalf, FftCodelets::kFastest);
  if (!fft.ok()) return state.SkipWithError(fft.status().message().c_str());
  const std::vector<float> clip = noise(2 * kHalf);
  const AlignedBuffer<Real> window(2 * kHalf);
  for (auto _ : state) {
    frame_kernels<Real>().apply_window(clip.data(), window.data(), fft->input(), 2 * kHalf);
    fft->execute();
    benchmark::DoNotOptimize(fft->output());
    benchmark::ClobberMemory();
  }
  per_frame(state, 1);
}

template <typename Real>
void magnitude(benchmark::State& state) {
  AlignedBuffer<Real> transform(2 * kHalf);
  const std::vector<float> values = noise(2 * kHalf);
  for (std::size_t i = 0; i < values.size(); ++i) transform[i] = static_cast<Real>(values[i]);
  const AlignedBuffer<Real> table(kHalf / 2);
  AlignedBuffer<float> row(kStride);
  for (auto _ : state) {
    frame_kernels<Real>().spectrum(transform.data(), {kHalf, table.data(), table.data()},
                                   SpectrumOp::kMagnitude, 0.0F, row.data());
    benchmark::DoNotOptimize(row.data());
    benchmark::ClobberMemory();
  }
  per_frame(state, 1);
}

void mel(benchmark::State& state) {
  const formats::MelConfig config;
  const MelFilterBank bank = pack(make_mel_filters(config, 22050, 2 * kHalf));
  std::vector<std::uint32_t> first_bins;
  std::vector<std::uint32_t> bin_counts;
  for (const MelFilterBank::Span& span : bank.spans) {
    first_bins.push_back(span.first_bin);
    bin_counts.push_back(span.bin_count);
  }
  const MelSpans spans{first_bins.data(), bin_counts.data(), bank.weights.data(), 80, kStride};
  const AlignedBuffer<float> rows(kBlockFrames * kStride);
  AlignedBuffer<float> scratch(kBlockFrames * kStride);
  AlignedBuffer<float> bands(kBlockFrames * 80);
  for (auto _ : state) {
    find_kernels(Isa::kBest)->block.mel(rows.data(), kStride, spans, scratch.data(), bands.data());
    benchmark::DoNotOptimize(bands.data());
    benchmark::ClobberMemory();
  }
  per_frame(state, kBlockFrames);
}

void log_and_transpose(benchmark::State& state) {
  AlignedBuffer<float> bands(kBlockFrames * 80);
  AlignedBuffer<float> frames(kBlockFrames * 80);
  const BlockKernels& kernels = find_kernels(Isa::kBest)->block;
  for (auto _ : state) {
    kernels.compress({}, bands.data(), bands.size());
    kernels.to_frames(bands.data(), 80, frames.data());
    benchmark::DoNotOptimize(frames.data());
    benchmark::ClobberMemory();
  }
  per_frame(state, kBlockFrames);
}

BENCHMARK_CAPTURE(whole, double_best, formats::Precision::kDouble, Isa::kBest);
BENCHMARK_CAPTURE(whole, float32_best, formats::Precision::kFloat32, Isa::kBest);
BENCHMARK_CAPTURE(whole, double_scalar, formats::Precision::kDouble, Isa::kScalar);
BENCHMARK_CAPTURE(whole, float32_scalar, formats::Precision::kFloat32, Isa::kScalar);
BENCHMARK(condition);
BENCHMARK_TEMPLATE(window_and_fft, double);
BENCHMARK_TEMPLATE(window_and_fft, float);
BENCHMARK_TEMPLATE(magnitude, double);
BENCHMARK_TEMPLATE(magnitude, float);
BENCHMARK(mel);
BENCHMARK(log_and_transpose);

}  // namespace
