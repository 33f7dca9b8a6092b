#include "records/condition_clip.hpp"

#include <algorithm>
#include <limits>

#include "audio/audio_decoder.hpp"
#include "audio/sample_resampler.hpp"
#include "base/try.hpp"
#include "dsp/condition.hpp"
#include "formats/preamble.hpp"
#include "records/decode_request.hpp"
#include "records/segment.hpp"

namespace xtts::records {
namespace {

// Keeps only the clip's part of the source.
Result<std::vector<float>> decode_part(audio::AudioDecoder& decoder, const RandomAccessFile& file,
                                       const audio::DecodeRequest& request,
                                       const formats::RecordFacts& facts) {
  const std::uint32_t rate_hz = facts.source_rate_hz.value_or(0);
  const FrameRange range = frames_of({*facts.segment_start_s, facts.segment_end_s}, rate_hz,
                                     std::numeric_limits<std::uint64_t>::max());
  if (range.refusal) return formats::corrupt("facts: the segment is empty");
  std::vector<float> samples;
  const auto keep = [&](std::span<const float> resampled) {
    samples.insert(samples.end(), resampled.begin(), resampled.end());
    return Status();
  };
  audio::SampleResampler resampler;
  XTTS_TRY(resampler.begin(rate_hz, request.target_rate_hz, request.resampler));
  std::uint64_t position = 0;
  const auto cut = [&](std::span<const float> decoded) {
    const auto begin = std::clamp(range.first, position, position + decoded.size()) - position;
    const auto end = std::clamp(range.end, position, position + decoded.size()) - position;
    position += decoded.size();
    return begin < end ? resampler.push(decoded.subspan(begin, end - begin), keep) : Status();
  };
  audio::DecodeRequest at_own_rate = request;
  at_own_rate.target_rate_hz = 0;
  XTTS_TRY(decoder.decode(file, at_own_rate, cut).status());
  XTTS_TRY(resampler.finish(keep));
  return samples;
}

Result<std::vector<float>> all_samples(audio::AudioDecoder& decoder, const RandomAccessFile& file,
                                       const audio::DecodeRequest& request) {
  std::vector<float> samples;
  XTTS_TRY(audio::decode_whole(decoder, file, request, samples).status());
  return samples;
}

}  // namespace

Result<std::vector<float>> condition_clip(Env& env, const audio::MakeDecoder& make_decoder,
                                          const formats::FeatureConfig& config,
                                          const corpus::SourcePlace& source,
                                          const formats::RecordFacts& facts) {
  XTTS_ASSIGN(const auto file, corpus::open_source(env, source));
  audio::DecodeRequest request = decode_request_of(config);
  // The suffix comes from the name that the cache keeps: a member of an archive has its own suffix.
  request.suffix = suffix_of(facts.source_path.value_or(source.path));
  request.source_seconds_max = std::numeric_limits<double>::infinity();  // it was stored
  const auto decoder = make_decoder({});
  auto samples = facts.segment_start_s ? decode_part(*decoder, *file, request, facts)
                                       : all_samples(*decoder, *file, request);
  if (!samples) return samples.status().with_context(source.path);
  XTTS_ASSIGN(auto conditioner, dsp::Conditioner::create(config));
  XTTS_TRY(conditioner.apply(*samples).status());
  return samples;
}

}  // namespace xtts::records
