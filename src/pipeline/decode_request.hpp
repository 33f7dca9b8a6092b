// What a recipe asks of the decoder. A pure function.
#pragma once

#include <string>
#include <string_view>

#include "base/env.hpp"
#include "decode/audio_decoder.hpp"
#include "formats/feature_config.hpp"

namespace xtts::pipeline {

[[nodiscard]] inline decode::DecodeRequest decode_request_of(
    const formats::FeatureConfig& features) {
  decode::DecodeRequest request;
  request.target_rate_hz = features.sample_rate_hz;
  request.mix =
      features.channels == formats::ChannelMix::kFirst ? decode::Mix::kFirst : decode::Mix::kMean;
  request.resampler = features.resampler;
  return request;
}

// What a source's name says of it. A suffix that long is none that FFmpeg knows.
[[nodiscard]] inline std::string suffix_of(std::string_view source) {
  constexpr std::size_t kBytesMax = 16;
  const std::string_view suffix = file_extension(source);
  return suffix.size() > kBytesMax ? std::string() : std::string(suffix);
}

}  // namespace xtts::pipeline
