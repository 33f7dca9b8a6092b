// Policy drops by the rule that made them, and what setting of it would keep the clips. Pure
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

// A clip of the corpus that a rule of the recipe left out. What is no clip (AppleDouble files, say)
// is not dropped.
[[nodiscard]] bool is_drop(const formats::Reject& reject) noexcept;

// The lowest value of the rule's setting that keeps the clip; unset: no number does.
[[nodiscard]] std::optional<double> value_that_keeps(const formats::Reason& reason);

// How long the clip is, where its reason tells: of its features, or of its source.
[[nodiscard]] std::optional<double> seconds_of_drop(const formats::Reject& reject,
                                                    const formats::FeatureConfig& features);

// What a rule has dropped, and the values of its setting that would keep more.
struct DropRemedy {
  struct Choice {
    double value = 0.0;
    std::uint64_t extra_bytes = 0;  // that the cache would need in addition
  };
  [[nodiscard]] std::string_view setting() const noexcept { return formats::info_of(rule).setting; }
  formats::Rule rule = formats::Rule::kUnknown;
  std::uint64_t count = 0;
  std::optional<Choice> keeps_most;  // 99 % of all clips, as far as this rule goes
  std::optional<Choice> keeps_all;   // unset: no number does, another word may
};

// By rule, the one that drops most first. `found_count`: all clips, `stored_count`: those that are
// stored as the recipe is.
[[nodiscard]] std::vector<DropRemedy> remedies_of(const std::vector<formats::Reject>& rejects,
                                                  const formats::Recipe& recipe,
                                                  std::uint64_t found_count,
                                                  std::uint64_t stored_count);
// The same of one rule whose clips are known by the values that they need, in any order.
[[nodiscard]] DropRemedy remedy_of(formats::Rule rule, std::vector<double> needed,
                                   const formats::Recipe& recipe, std::uint64_t found_count,
                                   std::uint64_t stored_count);

// "--set features.max_frames=1397 keeps 99 % of all clips and costs 1.9 GiB more, ...=2104 keeps
// all and costs 3.0 GiB more".
[[nodiscard]] std::string describe(const DropRemedy& remedy, const formats::Recipe& recipe);

}  // namespace xtts::pipeline
