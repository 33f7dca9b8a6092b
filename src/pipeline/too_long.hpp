// The reason of a clip that is too long for its recipe, and what would keep it. Written and read in
// one place, because a build that goes on from a journal has only the rejects' own words. Pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/feature_config.hpp"
#include "formats/reject.hpp"

namespace xtts::pipeline {

// What becomes of a clip that is too long.
[[nodiscard]] formats::TooLong rule_of(const formats::FeatureConfig& features, bool has_text);
// Whether that is another matter once it has a text, or has none any more.
[[nodiscard]] bool goes_by_text(const formats::FeatureConfig& features);
// What lasts longer is split where its list has times; unset: nothing is.
[[nodiscard]] std::optional<double> split_above_s(const formats::FeatureConfig& features);

[[nodiscard]] std::string too_long_reason(std::uint64_t frames, std::uint32_t max_frames);
// The frames that a clip with such a reason has; 0 for any other reject.
[[nodiscard]] std::uint32_t frames_wanted(const formats::Reject& reject);

}  // namespace xtts::pipeline
