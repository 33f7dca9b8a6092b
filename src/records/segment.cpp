#include "records/segment.hpp"
#include "formats/rules.hpp"

#include <cmath>

namespace xtts::records {
namespace {

using formats::Reason;
using formats::Rule;

// Shorter gaps get no warning: lists round their times, and half a frame of features is not worth
// one.
constexpr double kMissingSecondsMax = 0.02;

std::uint64_t frame_at(double seconds, std::uint32_t sample_rate_hz) {
  return static_cast<std::uint64_t>(std::llround(seconds * sample_rate_hz));
}

}  // namespace

FrameRange frames_of(const corpus::Segment& segment, std::uint32_t sample_rate_hz,
                     std::uint64_t frame_count) {
  const double source_s = static_cast<double>(frame_count) / sample_rate_hz;
  FrameRange range{.first = frame_at(segment.start_s, sample_rate_hz), .end = frame_count};
  if (range.first >= frame_count) {
    range.refusal =
        Reason{.rule = Rule::kSegmentBeyondSource, .numbers = {segment.start_s, source_s}};
    return range;
  }
  if (!segment.end_s) return range;
  range.end = frame_at(*segment.end_s, sample_rate_hz);
  if (range.end > frame_count) {
    if (*segment.end_s - source_s > kMissingSecondsMax)
      range.warning = Reason{.rule = Rule::kSegmentCut, .numbers = {*segment.end_s, source_s}};
    range.end = frame_count;
  }
  if (range.end <= range.first) range.refusal = Reason{.rule = Rule::kSegmentEmpty};
  return range;
}

bool is_same_part(const std::optional<corpus::Segment>& segment,
                  const formats::RecordFacts& facts) {
  if (!segment) return !facts.segment_start_s;
  return facts.segment_start_s == segment->start_s && facts.segment_end_s == segment->end_s;
}

}  // namespace xtts::records
