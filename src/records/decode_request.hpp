// Translates a recipe into the decoder's request. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "formats/feature_config.hpp"
#include "formats/rules.hpp"

namespace xtts::records {

[[nodiscard]] inline audio::DecodeRequest decode_request_of(
    const formats::FeatureConfig& features) {
  audio::DecodeRequest request;
  request.target_rate_hz = features.sample_rate_hz;
  request.mix =
      features.channels == formats::ChannelMix::kFirst ? audio::Mix::kFirst : audio::Mix::kMean;
  request.resampler = features.resampler;
  return request;
}

// A source at another rate, where the recipe refuses those.
[[nodiscard]] inline std::optional<formats::Reason> refusal_of_rate(
    std::uint32_t rate_hz, const formats::FeatureConfig& features) {
  if (features.resampler != formats::kRefuseRates || rate_hz == features.sample_rate_hz)
    return std::nullopt;
  return formats::Reason{
      .rule = formats::Rule::kOtherRate,
      .numbers = {static_cast<double>(rate_hz), static_cast<double>(features.sample_rate_hz)}};
}

// Returns the suffix of a source's name. FFmpeg knows no suffix longer than the bound.
[[nodiscard]] inline std::string suffix_of(std::string_view source) {
  constexpr std::size_t kBytesMax = 16;
  const std::string_view suffix = file_extension(source);
  return suffix.size() > kBytesMax ? std::string() : std::string(suffix);
}

}  // namespace xtts::records
