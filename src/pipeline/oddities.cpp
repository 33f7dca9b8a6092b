#include "pipeline/oddities.hpp"

#include <cstdio>

namespace xtts::pipeline {
namespace {

constexpr double kShortSeconds = 0.02;      // not one window of speech analysis
constexpr float kSilentPeak = 1e-4F;        // -80 dBFS
constexpr double kClippedShare = 1e-3;      // of all samples at full scale
constexpr std::uint32_t kLowRateHz = 4000;  // nothing of speech is left above 2 kHz

std::string text_of(const char* format, double value) {
  char text[80];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

std::vector<std::string> oddities_of(const formats::RecordFacts& facts) {
  std::vector<std::string> lines;
  const double rate_hz = facts.source_rate_hz.value_or(0);
  const auto frames = static_cast<double>(facts.source_frame_count.value_or(0));
  if (rate_hz > 0.0 && frames / rate_hz < kShortSeconds)
    lines.push_back(text_of("very short: %.2f ms", 1e3 * frames / rate_hz));
  if (facts.peak && *facts.peak < kSilentPeak) lines.emplace_back("silent");
  const double samples = frames * facts.source_channel_count.value_or(1);
  const auto clipped = static_cast<double>(facts.clipped_sample_count.value_or(0));
  if (samples > 0.0 && clipped > kClippedShare * samples)
    lines.push_back(text_of("clipped: %.2f %% of its samples", 1e2 * clipped / samples));
  if (rate_hz > 0.0 && rate_hz < kLowRateHz)
    lines.push_back(text_of("low sample rate: %.0f Hz", rate_hz));
  return lines;
}

}  // namespace xtts::pipeline
