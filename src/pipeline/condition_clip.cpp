#include "pipeline/condition_clip.hpp"

#include "base/try.hpp"
#include "decode/audio_decoder.hpp"
#include "dsp/condition.hpp"

namespace xtts::pipeline {

Result<std::vector<float>> condition_clip(Env& env, const formats::FeatureConfig& config,
                                          const std::string& source_path) {
  XTTS_ASSIGN(const auto file, env.open_for_read(source_path));
  decode::DecodeRequest request;
  request.target_rate_hz = config.sample_rate_hz;
  request.mix =
      config.channels == formats::ChannelMix::kFirst ? decode::Mix::kFirst : decode::Mix::kMean;
  request.resampler = config.resampler;
  std::vector<float> samples;
  const auto decoder = decode::make_libav_decoder();
  XTTS_ASSIGN(const auto facts, decoder->decode(*file, source_path, request, samples));
  static_cast<void>(facts);
  XTTS_ASSIGN(auto conditioner, dsp::Conditioner::create(config));
  XTTS_ASSIGN(const auto conditioned, conditioner.apply(samples));
  static_cast<void>(conditioned);
  return samples;
}

}  // namespace xtts::pipeline
