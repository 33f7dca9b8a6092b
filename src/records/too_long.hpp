// The rules for clips that are too long for their recipe. Pure functions.
#pragma once

#include <optional>

#include "formats/facts.hpp"
#include "formats/feature_enums.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::records {

[[nodiscard]] formats::TooLong rule_of(const formats::FeatureConfig& features, bool has_text);
// True where the rule changes when a clip gains or loses its text.
[[nodiscard]] bool depends_on_text(const formats::FeatureConfig& features);
// True where a stored clip has more frames than its record.
[[nodiscard]] bool was_cut(const formats::FeatureConfig& features,
                           const formats::RecordFacts& facts);
// Longer clips are split where their list has times. Unset: no clip is split.
[[nodiscard]] std::optional<double> split_above_s(const formats::FeatureConfig& features);

}  // namespace xtts::records
