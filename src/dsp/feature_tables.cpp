#include "dsp/feature_tables.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dsp/clip_values.hpp"
#include "dsp/mel_filters.hpp"
#include "dsp/window.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp {

std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

Compression make_compression(const formats::FeatureConfig& config) {
  const bool affine = has_affine_at_once(config);
  return {
      .has_log = config.log.base != formats::LogBase::kNone,
      .floor_mode = config.log.mode == formats::LogFloor::kAdd ? Compression::Floor::kAdd
                                                               : Compression::Floor::kClamp,
      .floor = static_cast<float>(config.log.floor),
      .log_scale = config.log.base == formats::LogBase::kTen
                       ? static_cast<float>(1.0 / std::log(10.0))
                       : 1.0F,
      .has_affine = affine,
      .offset = affine ? static_cast<float>(config.normalize.offset) : 0.0F,
      .scale = affine ? static_cast<float>(config.normalize.scale) : 1.0F,
  };
}

SpectrumOp spectrum_op(const formats::FeatureConfig& config) {
  switch (config.spectrum) {
    case formats::SpectrumKind::kMagnitude:
      return SpectrumOp::kMagnitude;
    case formats::SpectrumKind::kPower:
      return SpectrumOp::kPower;
    case formats::SpectrumKind::kRootPlus:
      return SpectrumOp::kRootPlus;
  }
  return SpectrumOp::kPower;
}

std::vector<double> make_scaled_window(const formats::FeatureConfig& config) {
  std::vector<double> window = make_window(config.stft);
  const double scale = 0.5 * config.sample_scale;
  for (double& value : window) value *= scale;
  return window;
}

Turn turn_of(std::size_t k, std::size_t half) noexcept {
  const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(half);
  return {.sine = std::sin(angle), .cosine = std::cos(angle)};
}

PackedFilters::PackedFilters(const formats::FeatureConfig& config) {
  if (!config.columns.mel || config.mel.scale == formats::MelScale::kNone) return;
  const MelFilterBank bank =
      pack(make_mel_filters(config.mel, config.sample_rate_hz, config.stft.n_fft));
  for (const MelFilterBank::Span& span : bank.spans) {
    first_bins_.push_back(span.first_bin);
    bin_counts_.push_back(span.bin_count);
    bin_end_ = std::max<std::size_t>(bin_end_, span.first_bin + span.bin_count);
  }
  weights_ = bank.weights;
}

MelSpans PackedFilters::spans() const {
  return {first_bins_.data(), bin_counts_.data(), weights_.data(), first_bins_.size(),
          round_up(bin_end_, kVectorFloats)};
}

}  // namespace xtts::dsp
