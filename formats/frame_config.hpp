// The sections stft and mel of FeatureConfig (feature_config.hpp): frames, their spectrum and its
// mel bands. Plain values.
#pragma once

#include <cstdint>

#include "formats/feature_enums.hpp"

namespace xtts::formats {

struct StftConfig {
  std::uint32_t n_fft = 1024;
  std::uint32_t win_samples = 1024;  // centred in n_fft, as librosa and torch do
  std::uint32_t hop_samples = 256;
  WindowKind window = WindowKind::kHann;
  WindowSymmetry symmetry = WindowSymmetry::kPeriodic;
  Framing framing = Framing::kCenter;
  PadMode pad_mode = PadMode::kReflect;
  // Removes the mean of each frame before its window, as Kaldi does.
  bool remove_dc = false;
  double preemphasis =
      0.0;  // x[i] - preemphasis x[i - 1]; the first sample stands in for the one before
  bool drop_last = false;
  std::uint32_t multiple_frames = 1;  // frames beyond the last full multiple are dropped
};

// Returns the start of the window in its n_fft. Kaldi puts the zeros behind the window; the others
// put them around it.
[[nodiscard]] constexpr std::uint32_t window_start(const StftConfig& config) noexcept {
  const bool is_kaldi =
      config.framing == Framing::kSnipEdges || config.framing == Framing::kKeepEdges;
  return is_kaldi ? 0 : (config.n_fft - config.win_samples) / 2;
}

struct MelConfig {
  std::uint32_t n_mels = 80;
  double f_min_hz = 0.0;
  double f_max_hz = 11025.0;
  MelScale scale = MelScale::kSlaney;
  MelNorm norm = MelNorm::kSlaney;
  MelTriangles triangles = MelTriangles::kHz;
  std::uint32_t bins_rate_hz =
      0;  // the rate for which bins are taken to stand; 0: the recipe's own
};

}  // namespace xtts::formats
