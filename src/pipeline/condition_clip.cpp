#include "pipeline/condition_clip.hpp"

#include <algorithm>
#include <limits>

#include "base/try.hpp"
#include "decode/audio_decoder.hpp"
#include "decode/resample.hpp"
#include "dsp/condition.hpp"
#include "pipeline/decode_request.hpp"
#include "pipeline/make_decoder.hpp"
#include "pipeline/segment.hpp"

namespace xtts::pipeline {
namespace {

// The part of the source alone is kept.
Result<std::vector<float>> decode_part(decode::AudioDecoder& decoder, const RandomAccessFile& file,
                                       const decode::DecodeRequest& request,
                                       const formats::RecordFacts& facts) {
  const std::uint32_t rate_hz = facts.source_rate_hz.value_or(0);
  XTTS_ASSIGN(const FrameRange range,
              frames_of({*facts.segment_start_s, facts.segment_end_s}, rate_hz,
                        std::numeric_limits<std::uint64_t>::max()));
  std::vector<float> samples;
  const auto keep = [&](std::span<const float> resampled) {
    samples.insert(samples.end(), resampled.begin(), resampled.end());
    return Status();
  };
  decode::SampleResampler resampler;
  XTTS_TRY(resampler.begin(rate_hz, request.target_rate_hz, request.resampler));
  std::uint64_t position = 0;
  const auto cut = [&](std::span<const float> decoded) {
    const auto begin = std::clamp(range.first, position, position + decoded.size()) - position;
    const auto end = std::clamp(range.end, position, position + decoded.size()) - position;
    position += decoded.size();
    return begin < end ? resampler.push(decoded.subspan(begin, end - begin), keep) : Status();
  };
  decode::DecodeRequest at_own_rate = request;
  at_own_rate.target_rate_hz = 0;
  XTTS_TRY(decoder.decode(file, at_own_rate, cut).status());
  XTTS_TRY(resampler.finish(keep));
  return samples;
}

Result<std::vector<float>> all_samples(decode::AudioDecoder& decoder, const RandomAccessFile& file,
                                       const decode::DecodeRequest& request) {
  std::vector<float> samples;
  XTTS_TRY(decode::decode_whole(decoder, file, request, samples).status());
  return samples;
}

}  // namespace

Result<std::vector<float>> condition_clip(Env& env, const std::vector<std::string>& decoder_command,
                                          const formats::FeatureConfig& config,
                                          const corpus::SourcePlace& source,
                                          const formats::RecordFacts& facts) {
  XTTS_ASSIGN(const auto file, corpus::open_source(env, source));
  decode::DecodeRequest request = decode_request_of(config);
  // Of the name that the cache keeps: a member of an archive has a suffix of its own.
  request.suffix = suffix_of(facts.source_path.value_or(source.path));
  request.source_seconds_max = std::numeric_limits<double>::infinity();  // it was stored
  const auto decoder = make_decoder(decoder_command);
  auto samples = facts.segment_start_s ? decode_part(*decoder, *file, request, facts)
                                       : all_samples(*decoder, *file, request);
  if (!samples) return samples.status().with_context(source.path);
  XTTS_ASSIGN(auto conditioner, dsp::Conditioner::create(config));
  XTTS_TRY(conditioner.apply(*samples).status());
  return samples;
}

}  // namespace xtts::pipeline
