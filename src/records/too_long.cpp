#include "records/too_long.hpp"

#include "formats/feature_config.hpp"

namespace xtts::records {
bool depends_on_text(const formats::FeatureConfig& features) {
  return !features.too_long || *features.too_long == formats::TooLong::kSplit;
}

formats::TooLong rule_of(const formats::FeatureConfig& features, bool has_text) {
  if (!depends_on_text(features)) return *features.too_long;
  return has_text ? formats::TooLong::kDrop : formats::TooLong::kTruncate;
}

bool was_cut(const formats::FeatureConfig& features, const formats::RecordFacts& facts) {
  return facts.frame_count_before_cut.value_or(0) > features.max_frames;
}

std::optional<double> split_above_s(const formats::FeatureConfig& features) {
  if (features.too_long != formats::TooLong::kSplit) return std::nullopt;
  // Each framing makes at most one frame more than there are hops.
  return (features.max_frames - 1.0) * features.stft.hop_samples / features.sample_rate_hz;
}

}  // namespace xtts::records
