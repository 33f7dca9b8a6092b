// Segments in frames: turns a list's seconds into a part of a decoded source, and says whether a
// stored record is that part. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "corpus/clips/clip.hpp"
#include "formats/facts.hpp"

namespace xtts::records {

struct FrameRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;                        // after the last
  std::optional<formats::Reason> refusal = {};  // the segment lies beyond its source, or is empty
  std::optional<formats::Reason> warning = {};  // the source ends noticeably before the segment

  [[nodiscard]] std::uint64_t count() const noexcept { return end - first; }
};

[[nodiscard]] FrameRange frames_of(const corpus::Segment& segment, std::uint32_t sample_rate_hz,
                                   std::uint64_t frame_count);

[[nodiscard]] bool is_same_part(const std::optional<corpus::Segment>& segment,
                                const formats::RecordFacts& facts);

}  // namespace xtts::records
