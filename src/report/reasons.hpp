// Reasons in words: the one place where a rule and its numbers become a sentence. Pure functions.
#pragma once

#include <span>
#include <string>

#include "formats/reason.hpp"
#include "formats/reject.hpp"

namespace xtts::report {

// "clipped: 1.20 % of its samples".
[[nodiscard]] std::string words_of(const formats::Reason& reason);
// Of a clip that is not stored: with the setting that keeps it, where there is one: "1034 frames,
// at most 800: features.max_frames=1034 keeps it".
[[nodiscard]] std::string words_of(const formats::Reject& reject);
// One a line.
[[nodiscard]] std::string lines_of(std::span<const formats::Reason> reasons);

}  // namespace xtts::report
