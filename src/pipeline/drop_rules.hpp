// Policy drops by their rule, and the setting of the rule that would keep the clips. Pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/recipe_fwd.hpp"
#include "formats/reject.hpp"
#include "formats/rules.hpp"

namespace xtts::pipeline {

// True where a rule of the recipe left out a clip of the corpus. A file that is no clip
// (AppleDouble, say) is not dropped.
[[nodiscard]] bool is_drop(const formats::Reject& reject) noexcept;

// The lowest value of the rule's setting that keeps the clip; unset if no number does.
[[nodiscard]] std::optional<double> value_that_keeps(const formats::Reason& reason);

// The seconds of the clip's features or of its source, if its reason tells them.
[[nodiscard]] std::optional<double> seconds_of_drop(const formats::Reject& reject,
                                                    const formats::FeatureConfig& features);

// The drops of one rule, and the values of its setting that would keep more.
struct DropRemedy {
  struct Choice {
    double value = 0.0;
    std::uint64_t extra_bytes = 0;  // what the cache would need in addition
  };
  [[nodiscard]] std::string_view setting() const noexcept { return formats::info_of(rule).setting; }
  formats::Rule rule = formats::Rule::kUnknown;
  std::uint64_t count = 0;
  std::optional<Choice> keeps_most;  // 99 % of all clips, if no other rule drops them
  std::optional<Choice> keeps_all;   // unset: no number does, perhaps another word does
};

// Sorted by rule, the rule that drops most first. `found_count`: all clips. `stored_count`: the
// clips that the recipe stores now.
[[nodiscard]] std::vector<DropRemedy> remedies_of(const std::vector<formats::Reject>& rejects,
                                                  const formats::Recipe& recipe,
                                                  std::uint64_t found_count,
                                                  std::uint64_t stored_count);
// Does the same for one rule. `needed`: the values that its clips need, in any order.
[[nodiscard]] DropRemedy remedy_of(formats::Rule rule, std::vector<double> needed,
                                   const formats::Recipe& recipe, std::uint64_t found_count,
                                   std::uint64_t stored_count);

// "--set features.max_frames=1397 keeps 99 % of all clips and costs 1.9 GiB more, ...=2104 keeps
// all and costs 3.0 GiB more".
[[nodiscard]] std::string describe(const DropRemedy& remedy, const formats::Recipe& recipe);

}  // namespace xtts::pipeline
