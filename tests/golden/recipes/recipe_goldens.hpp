// The golden files of this folder, read (README.md says what they hold). A file that is absent or
// broken fails the test that asked. Values; no threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace xtts::testing {

struct GoldenRecipe {
  std::string name;  // a recipe's, or with a `+` a recipe with settings
  std::string recipe;
  std::vector<std::string> settings;
  std::uint32_t rate_hz = 0;
  double natural_log_units = 0.0;  // of one unit of its features; 0: they are no logarithms
};

// `frames` rows are what the recipe makes of the samples; those behind the stored ones are equal
// the last that is stored.
struct GoldenCase {
  std::string input;
  std::vector<float> samples;
  std::optional<std::uint64_t> frames;  // none: the reference raises an error
  std::vector<float> truth;
  std::vector<float> reference;  // often empty
  std::uint32_t bins = 0;
};

// Of `reference`, for clips of first to last samples.
struct GoldenFrames {
  std::uint64_t first_length = 0;
  std::uint64_t last_length = 0;
  std::optional<std::uint64_t> frames;
};

// Of recipes.tsv.
[[nodiscard]] std::vector<std::string> golden_names();
[[nodiscard]] GoldenRecipe golden_recipe(const std::string& name);
[[nodiscard]] std::vector<GoldenCase> golden_cases(const GoldenRecipe& recipe);
[[nodiscard]] std::vector<GoldenFrames> golden_frames(const std::string& name);

// The largest difference of a row-major [frames, bins] from `expected` in natural-log units, the
// stored rows continued by their last one; for features that are no logarithms relative to the
// larger of the value and 1. Infinite where the sizes do not fit.
[[nodiscard]] double worst_difference(std::span<const float> features,
                                      std::span<const float> expected, const GoldenRecipe& recipe,
                                      const GoldenCase& golden);

}  // namespace xtts::testing
