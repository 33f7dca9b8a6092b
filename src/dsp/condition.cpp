#include "dsp/condition.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/try.hpp"
#include "dsp/bandwidth.hpp"
#include "dsp/loudness.hpp"
#include "dsp/lufs.hpp"
#include "dsp/trim.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp {
namespace {

Result<bool> all_finite(SampleReader& samples, std::uint64_t first, std::uint64_t end) {
  XTTS_ASSIGN(const float energy, pairwise_energy(samples, first, end - first));
  return std::isfinite(energy);
}

}  // namespace

struct Conditioner::Impl {
  formats::TrimConfig trim;
  formats::LoudnessConfig loudness;
  std::uint32_t sample_rate_hz;
  std::uint64_t padded_samples;  // length of every clip; 0: as long as it is
  BandwidthMeter bandwidth;
  std::vector<float> levels_db;  // of the clip in work

  // Measures the kept part, up to padded_samples if these are fewer. The mean covers the padding.
  Result<Loudness> measure(SampleReader& samples, const ConditionFacts& facts) const {
    const std::uint64_t first = facts.trim_start_samples;
    const std::uint64_t kept = facts.kept_samples();
    const std::uint64_t framed = padded_samples == 0 ? kept : padded_samples;
    const std::uint64_t count = std::min(kept, framed);
    XTTS_ASSIGN(Loudness measured, measure_loudness(samples, first, count, framed));
    if (loudness.method == formats::LoudnessMethod::kRms &&
        loudness.rounding == formats::Rounding::kOnce && framed != 0) {
      XTTS_ASSIGN(const double squares, measure_square_sum(samples, first, count));
      measured.rms = static_cast<float>(std::sqrt(squares / static_cast<double>(framed)));
    }
    if (loudness.method == formats::LoudnessMethod::kLufs) {
      XTTS_ASSIGN(measured.lufs, measure_lufs(samples, first, count, sample_rate_hz));
    }
    return measured;
  }
};

Result<Conditioner> Conditioner::create(const formats::FeatureConfig& config) {
  const std::vector<std::string> problems = config.validate();
  if (!problems.empty()) return Status(StatusCode::kInvalidArgument, problems.front());
  const bool pads_samples = config.pad == formats::PadWhat::kSamples;
  XTTS_ASSIGN(auto bandwidth, BandwidthMeter::create(config.sample_rate_hz));
  return Conditioner(std::make_unique<Impl>(Impl{config.trim,
                                                 config.loudness,
                                                 config.sample_rate_hz,
                                                 pads_samples ? config.padded_samples() : 0,
                                                 std::move(bandwidth),
                                                 {}}));
}

Conditioner::Conditioner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Conditioner::~Conditioner() = default;
Conditioner::Conditioner(Conditioner&&) noexcept = default;
Conditioner& Conditioner::operator=(Conditioner&&) noexcept = default;

Result<ConditionFacts> Conditioner::measure(SampleReader& samples) {
  ConditionFacts facts;
  facts.trim_end_samples = samples.size();
  XTTS_TRY(frame_levels_db(samples, impl_->trim, impl_->levels_db));
  facts.silence_share = silence_share(impl_->levels_db);
  if (impl_->trim.method == formats::TrimMethod::kTopDb) {
    const SampleRange range = trim_range(impl_->levels_db, samples.size(), impl_->trim);
    facts.trim_start_samples = range.begin;
    facts.trim_end_samples = range.end;
  }
  XTTS_ASSIGN(const Loudness loudness, impl_->measure(samples, facts));
  // The parts that are cut off are checked, too: a broken clip must not pass because its broken
  // part was quiet.
  XTTS_ASSIGN(const bool front, all_finite(samples, 0, facts.trim_start_samples));
  XTTS_ASSIGN(const bool back, all_finite(samples, facts.trim_end_samples, samples.size()));
  if (!std::isfinite(loudness.rms) || !front || !back)
    return Status(StatusCode::kBadInput, "samples that are not finite, or beyond 1e19");
  XTTS_ASSIGN(facts.bandwidth_hz,
              impl_->bandwidth.measure(samples, facts.trim_start_samples, facts.trim_end_samples));
  facts.peak = loudness.peak;
  facts.rms = loudness.rms;
  facts.scaling = plan_scaling(impl_->loudness, loudness);
  return facts;
}

Result<ConditionFacts> Conditioner::apply(std::vector<float>& samples) {
  MemoryReader reader(samples);
  XTTS_ASSIGN(const ConditionFacts facts, measure(reader));
  const auto begin = samples.begin();
  samples.erase(begin + static_cast<std::ptrdiff_t>(facts.trim_end_samples), samples.end());
  samples.erase(begin, begin + static_cast<std::ptrdiff_t>(facts.trim_start_samples));
  apply_scaling(facts.scaling, samples);
  return facts;
}

}  // namespace xtts::dsp
