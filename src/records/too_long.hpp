// What becomes of clips that are too long for their recipe. Pure functions.
#pragma once

#include <optional>

#include "formats/facts.hpp"
#include "formats/feature_enums.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::records {

[[nodiscard]] formats::TooLong rule_of(const formats::FeatureConfig& features, bool has_text);
// Whether that is another matter once it has a text, or has none any more.
[[nodiscard]] bool goes_by_text(const formats::FeatureConfig& features);
// Whether a stored clip has more frames than its record.
[[nodiscard]] bool was_cut(const formats::FeatureConfig& features,
                           const formats::RecordFacts& facts);
// What lasts longer is split where its list has times; unset: nothing is.
[[nodiscard]] std::optional<double> split_above_s(const formats::FeatureConfig& features);

}  // namespace xtts::records
