#include "pipeline/manifest_parts.hpp"

#include <algorithm>
#include <cmath>

#include "formats/canonical_json.hpp"

namespace xtts::pipeline {

void describe_recipe(const formats::Recipe& recipe, formats::Manifest& manifest) {
  manifest.recipe_name = recipe.name;
  manifest.features = to_json(recipe.features);
  manifest.text = to_json(recipe.text);
  manifest.corpus = to_json(recipe.corpus);
  manifest.storage = to_json(recipe.storage);
  manifest.features_fingerprint = formats::fingerprint(recipe.features);
  manifest.text_fingerprint = formats::fingerprint(recipe.text);
  manifest.corpus_fingerprint = formats::fingerprint(recipe.corpus);
  manifest.storage_fingerprint = formats::fingerprint(recipe.storage);
}

std::optional<formats::Statistics> statistics_of(std::uint64_t frame_count,
                                                 std::span<const double> sums) {
  if (frame_count == 0 || sums.empty()) return std::nullopt;
  formats::Statistics statistics;
  statistics.frame_count = frame_count;
  const auto frames = static_cast<double>(frame_count);
  const std::size_t channels = sums.size() / 2;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const double mean = sums[channel] / frames;
    const double variance = sums[channels + channel] / frames - mean * mean;
    // Sums of finite values are finite. Records of a program that stored others may have others: a
    // cache without statistics is better than none.
    if (!std::isfinite(mean) || !std::isfinite(variance)) return std::nullopt;
    statistics.mean.push_back(mean);
    statistics.std_deviation.push_back(std::sqrt(std::max(variance, 0.0)));
  }
  return statistics;
}

}  // namespace xtts::pipeline
