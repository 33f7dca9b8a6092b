#include "pipeline/condition_clip.hpp"

#include <algorithm>
#include <limits>

#include "base/try.hpp"
#include "decode/audio_decoder.hpp"
#include "decode/resample.hpp"
#include "dsp/condition.hpp"
#include "pipeline/decode_request.hpp"
#include "pipeline/segment.hpp"

namespace xtts::pipeline {
namespace {

// The part of the source alone is kept.
Result<std::vector<float>> decode_part(const RandomAccessFile& file,
                                       const decode::DecodeRequest& request,
                                       const formats::RecordFacts& facts) {
  const std::uint32_t rate_hz = facts.source_rate_hz.value_or(0);
  XTTS_ASSIGN(const FrameRange range,
              frames_of({*facts.segment_start_s, facts.segment_end_s}, rate_hz,
                        std::numeric_limits<std::uint64_t>::max()));
  std::vector<float> part;
  std::uint64_t position = 0;
  const auto take = [&](std::span<const float> samples) {
    const auto begin = std::clamp(range.first, position, position + samples.size()) - position;
    const auto end = std::clamp(range.end, position, position + samples.size()) - position;
    const auto wanted = samples.subspan(begin, end - begin);
    part.insert(part.end(), wanted.begin(), wanted.end());
    position += samples.size();
    return Status();
  };
  XTTS_TRY(decode::make_libav_decoder()->decode_mixed(file, request, take).status());
  std::vector<float> samples;
  XTTS_TRY(decode::SampleResampler().apply(part, rate_hz, request.target_rate_hz,
                                           request.resampler, samples));
  return samples;
}

Result<std::vector<float>> decode_whole(const RandomAccessFile& file,
                                        const decode::DecodeRequest& request) {
  std::vector<float> samples;
  XTTS_TRY(decode::make_libav_decoder()->decode(file, request, samples).status());
  return samples;
}

}  // namespace

Result<std::vector<float>> condition_clip(Env& env, const formats::FeatureConfig& config,
                                          const std::string& source_path,
                                          const formats::RecordFacts& facts) {
  XTTS_ASSIGN(const auto file, env.open_for_read(source_path));
  const decode::DecodeRequest request = decode_request_of(config);
  auto samples = facts.segment_start_s ? decode_part(*file, request, facts)
                                       : decode_whole(*file, request);
  if (!samples) return samples.status().with_context(source_path);
  XTTS_ASSIGN(auto conditioner, dsp::Conditioner::create(config));
  XTTS_TRY(conditioner.apply(*samples).status());
  return samples;
}

}  // namespace xtts::pipeline
