// What a recipe asks of the decoder. A pure function.
#pragma once

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

}  // namespace xtts::pipeline
