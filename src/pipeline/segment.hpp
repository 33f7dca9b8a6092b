// Segments in frames: seconds of a list -> the part of a decoded source, and whether a stored
// record is that part. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "corpus/corpus.hpp"
#include "formats/facts.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

struct FrameRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;  // after the last
  std::string warning;    // where the source ends noticeably before the segment

  [[nodiscard]] std::uint64_t count() const noexcept { return end - first; }
};

// kBadInput: the segment begins where the source has ended.
[[nodiscard]] Result<FrameRange> frames_of(const corpus::Segment& segment,
                                           std::uint32_t sample_rate_hz, std::uint64_t frame_count);

[[nodiscard]] bool is_same_part(const std::optional<corpus::Segment>& segment,
                                const formats::RecordFacts& facts);

}  // namespace xtts::pipeline
