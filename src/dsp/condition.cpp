#include "dsp/condition.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "base/try.hpp"
#include "dsp/loudness.hpp"
#include "dsp/trim.hpp"

namespace xtts::dsp {
namespace {

bool all_finite(std::span<const float> samples) {
  return std::isfinite(measure_loudness(samples).rms);
}

}  // namespace

struct Conditioner::Impl {
  formats::TrimConfig trim;
  formats::LoudnessConfig loudness;
  std::vector<float> levels_db;  // of the clip in hand
};

Result<Conditioner> Conditioner::create(const formats::FeatureConfig& config) {
  const std::vector<std::string> problems = config.validate();
  if (!problems.empty()) return Status(StatusCode::kInvalidArgument, problems.front());
  return Conditioner(std::make_unique<Impl>(Impl{config.trim, config.loudness, {}}));
}

Conditioner::Conditioner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Conditioner::~Conditioner() = default;
Conditioner::Conditioner(Conditioner&&) noexcept = default;
Conditioner& Conditioner::operator=(Conditioner&&) noexcept = default;

Result<ConditionFacts> Conditioner::apply(std::vector<float>& samples) {
  ConditionFacts facts;
  facts.trim_end_samples = samples.size();
  frame_levels_db(samples, impl_->trim, impl_->levels_db);
  facts.silence_share = silence_share(impl_->levels_db);
  std::span<float> kept(samples);
  if (impl_->trim.method == formats::TrimMethod::kTopDb) {
    const SampleRange range = trim_range(impl_->levels_db, samples.size(), impl_->trim);
    facts.trim_start_samples = range.begin;
    facts.trim_end_samples = range.end;
    kept = kept.subspan(range.begin, range.end - range.begin);
  }
  const Loudness loudness = measure_loudness(kept);
  // What is cut off is asked too: a broken clip is not to pass because its broken part was quiet.
  const std::span<const float> whole(samples);
  if (!std::isfinite(loudness.rms) || !all_finite(whole.first(facts.trim_start_samples)) ||
      !all_finite(whole.subspan(facts.trim_end_samples))) {
    return Status(StatusCode::kBadInput, "samples that are not finite, or beyond 1e19");
  }
  facts.peak = loudness.peak;
  facts.rms = loudness.rms;
  const Scaling scaling = plan_scaling(impl_->loudness, loudness);
  facts.gain = scaling.gain();
  // The kept part moves to the front; the vector keeps its memory for the next clip.
  samples.erase(samples.begin() + static_cast<std::ptrdiff_t>(facts.trim_end_samples),
                samples.end());
  samples.erase(samples.begin(),
                samples.begin() + static_cast<std::ptrdiff_t>(facts.trim_start_samples));
  apply_scaling(scaling, samples);
  return facts;
}

}  // namespace xtts::dsp
