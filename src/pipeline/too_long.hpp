// The reason of a clip that is too long for its recipe, and what would keep it. Written and read in
// one place, because a build that goes on from a journal has only the rejects' own words. Pure
// functions.
#pragma once

#include <cstdint>
#include <string>

#include "formats/reject.hpp"

namespace xtts::pipeline {

[[nodiscard]] std::string too_long_reason(std::uint64_t frames, std::uint32_t max_frames);
// The frames that a clip with such a reason has; 0 for any other reject.
[[nodiscard]] std::uint32_t frames_wanted(const formats::Reject& reject);

}  // namespace xtts::pipeline
