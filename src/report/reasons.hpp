// Reasons in words. Only this code turns a rule and its numbers into a sentence. Pure functions.
#pragma once

#include <span>
#include <string>

#include "formats/reason.hpp"
#include "formats/reject.hpp"

namespace xtts::report {

// Gives "clipped: 1.20 % of its samples".
[[nodiscard]] std::string words_of(const formats::Reason& reason);
// Says why a clip is not stored, and the setting that keeps it if there is one: "1034 frames, at
// most 800: features.max_frames=1034 keeps it".
[[nodiscard]] std::string words_of(const formats::Reject& reject);
// Gives one reason a line.
[[nodiscard]] std::string lines_of(std::span<const formats::Reason> reasons);

}  // namespace xtts::report
