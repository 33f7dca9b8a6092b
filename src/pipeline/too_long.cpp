#include "pipeline/too_long.hpp"

#include <charconv>
#include <string_view>

namespace xtts::pipeline {
namespace {

constexpr std::string_view kMarker = " frames, at most ";

}  // namespace

bool goes_by_text(const formats::FeatureConfig& features) {
  return !features.too_long || *features.too_long == formats::TooLong::kSplit;
}

formats::TooLong rule_of(const formats::FeatureConfig& features, bool has_text) {
  if (!goes_by_text(features)) return *features.too_long;
  return has_text ? formats::TooLong::kDrop : formats::TooLong::kTruncate;
}

std::optional<double> split_above_s(const formats::FeatureConfig& features) {
  if (features.too_long != formats::TooLong::kSplit) return std::nullopt;
  // All framings make at most one frame more than there are hops.
  return (features.max_frames - 1.0) * features.stft.hop_samples / features.sample_rate_hz;
}

std::string too_long_reason(std::uint64_t frames, std::uint32_t max_frames) {
  return std::to_string(frames) + std::string(kMarker) + std::to_string(max_frames) +
         ": features.max_frames=" + std::to_string(frames) + " keeps it";
}

std::uint32_t frames_wanted(const formats::Reject& reject) {
  const std::size_t marker = reject.reason.find(kMarker);
  if (reject.stage != "features" || marker == std::string::npos) return 0;
  std::uint32_t frames = 0;
  const char* const begin = reject.reason.data();
  const auto [end, error] = std::from_chars(begin, begin + marker, frames);
  return error == std::errc() && end == begin + marker ? frames : 0;
}

}  // namespace xtts::pipeline
