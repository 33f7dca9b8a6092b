#include "pipeline/segment.hpp"

#include <cmath>
#include <cstdio>

namespace xtts::pipeline {
namespace {

// Lists round; half a frame of features is not worth a word.
constexpr double kMissingSecondsMax = 0.02;

std::uint64_t frame_at(double seconds, std::uint32_t sample_rate_hz) {
  return static_cast<std::uint64_t>(std::llround(seconds * sample_rate_hz));
}

std::string text_of(const char* format, double first, double second) {
  char text[120];
  std::snprintf(text, sizeof text, format, first, second);
  return text;
}

}  // namespace

Result<FrameRange> frames_of(const corpus::Segment& segment, std::uint32_t sample_rate_hz,
                             std::uint64_t frame_count) {
  const double source_s = static_cast<double>(frame_count) / sample_rate_hz;
  FrameRange range{
      .first = frame_at(segment.start_s, sample_rate_hz), .end = frame_count, .warning = {}};
  if (range.first >= frame_count) {
    return Status(StatusCode::kBadInput,
                  text_of("the segment begins at %.2f s, its source ends at %.2f s",
                          segment.start_s, source_s));
  }
  if (!segment.end_s) return range;
  range.end = frame_at(*segment.end_s, sample_rate_hz);
  if (range.end > frame_count) {
    if (*segment.end_s - source_s > kMissingSecondsMax) {
      range.warning = text_of("the segment should end at %.2f s, its source ends at %.2f s",
                              *segment.end_s, source_s);
    }
    range.end = frame_count;
  }
  if (range.end <= range.first)
    return Status(StatusCode::kBadInput, "the segment is shorter than a sample");
  return range;
}

bool is_same_part(const std::optional<corpus::Segment>& segment,
                  const formats::RecordFacts& facts) {
  if (!segment) return !facts.segment_start_s;
  return facts.segment_start_s == segment->start_s && facts.segment_end_s == segment->end_s;
}

}  // namespace xtts::pipeline
