#include "dsp/clip_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace xtts::dsp {
namespace {

using formats::NormalizeMethod;

constexpr float kLeastSpan = 1e-6F;       // as in MyXTTS's TensorFlow loader
constexpr double kLeastDeviation = 1e-5;  // for a channel that hardly moves

void scale_values(std::span<float> values, float offset, float scale) {
  for (float& value : values) value = (value - offset) / scale;
}

struct Span {
  float least;
  float largest;
};

// The span of all values, padding included.
Span span_of(std::span<const float> frames, const float* padding) {
  const auto [least, largest] = std::minmax_element(frames.begin(), frames.end());
  if (padding == nullptr) return {*least, *largest};
  return {std::min(*least, *padding), std::max(*largest, *padding)};
}

}  // namespace

bool has_affine_at_once(const formats::FeatureConfig& config) noexcept {
  return config.normalize.method == NormalizeMethod::kAffine && config.log.range == 0.0;
}

ClipValues::ClipValues(const formats::FeatureConfig& config)
    : normalize_(config.normalize),
      range_(static_cast<float>(config.log.range)),
      channel_count_(config.channel_count()) {}

bool ClipValues::is_needed() const noexcept {
  const bool is_done_at_once =
      normalize_.method == NormalizeMethod::kNone || normalize_.method == NormalizeMethod::kAffine;
  return range_ > 0.0F || !is_done_at_once;
}

void ClipValues::apply(std::span<float> frames, float* padding) const {
  if (frames.empty()) return;
  if (range_ > 0.0F) raise_to_range(frames, padding);
  switch (normalize_.method) {
    case NormalizeMethod::kNone:
      return;
    case NormalizeMethod::kAffine:
      if (range_ == 0.0F) return;
      scale_values(frames, static_cast<float>(normalize_.offset),
                   static_cast<float>(normalize_.scale));
      if (padding != nullptr) {
        scale_values({padding, 1}, static_cast<float>(normalize_.offset),
                     static_cast<float>(normalize_.scale));
      }
      return;
    case NormalizeMethod::kMinMax:
      return apply_min_max(frames, padding);
    case NormalizeMethod::kMeanVariance:
      return apply_mean_variance(frames);
    case NormalizeMethod::kChannels:
      return apply_channels(frames);
  }
}

void ClipValues::raise_to_range(std::span<float> frames, float* padding) const {
  const float least = span_of(frames, padding).largest - range_;
  for (float& value : frames) value = std::max(value, least);
  if (padding != nullptr) *padding = std::max(*padding, least);
}

void ClipValues::apply_min_max(std::span<float> frames, float* padding) const {
  const auto [least, largest] = span_of(frames, padding);
  const float scale = std::max(largest - least, kLeastSpan);
  scale_values(frames, least, scale);
  if (padding != nullptr) scale_values({padding, 1}, least, scale);
}

void ClipValues::apply_mean_variance(std::span<float> frames) const {
  const std::size_t count = frames.size() / channel_count_;
  std::vector<double> means(channel_count_);
  std::vector<double> squares(channel_count_);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    means[i % channel_count_] += static_cast<double>(frames[i]) / static_cast<double>(count);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const double away = static_cast<double>(frames[i]) - means[i % channel_count_];
    squares[i % channel_count_] += away * away / static_cast<double>(count);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::size_t channel = i % channel_count_;
    const double deviation = std::max(std::sqrt(squares[channel]), kLeastDeviation);
    frames[i] = static_cast<float>((static_cast<double>(frames[i]) - means[channel]) / deviation);
  }
}

void ClipValues::apply_channels(std::span<float> frames) const {
  const auto& offsets = normalize_.channel_offsets;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::size_t channel = i % channel_count_;
    const double offset = offsets.empty() ? 0.0 : offsets[channel];
    frames[i] = static_cast<float>((static_cast<double>(frames[i]) - offset) /
                                   normalize_.channel_scales[channel]);
  }
}

}  // namespace xtts::dsp
