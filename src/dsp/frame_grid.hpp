// FrameGrid: where the frames of a clip lie, and the samples of those that reach over its ends.
// Immutable, share freely.
//
//   kCenter  frame f starts at f hop - n_fft / 2          1 + (n + 2 (n_fft / 2) - n_fft) / hop
//   frames kSame    frame f starts at f hop - (n_fft - hop) / 2  1 + (n + 2 ((n_fft - hop) / 2) -
//   n_fft) / hop kNone    frame f starts at f hop                      1 + (n - n_fft) / hop kEnd
//   frame f starts at f hop, zeros follow        ceil(n / hop)
// (whole divisions; none where n is 0 or what is divided is negative).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/feature_config.hpp"

namespace xtts::dsp {

class FrameGrid {
 public:
  explicit FrameGrid(const formats::StftConfig& config) noexcept;

  [[nodiscard]] std::uint64_t frame_count(std::uint64_t sample_count) const noexcept;
  // So many first samples of a longer clip make its first frames what they are, whatever the
  // framing.
  [[nodiscard]] std::uint64_t samples_of(std::uint64_t frame_count) const noexcept;
  // Mirrored padding needs more samples than it mirrors: sample 0 is the mirror and is not
  // repeated.
  [[nodiscard]] bool can_pad(std::uint64_t sample_count) const noexcept;
  // The n_fft samples of a frame: a view into `clip` where it lies inside, else assembled in
  // `scratch` (n_fft long).
  [[nodiscard]] const float* frame(std::span<const float> clip, std::uint64_t frame_index,
                                   std::span<float> scratch) const noexcept;

 private:
  [[nodiscard]] float sample(std::span<const float> clip, std::int64_t position) const noexcept;

  std::int64_t n_fft_;
  std::int64_t hop_;
  std::int64_t pad_;  // in front of the first sample
  formats::Framing framing_;
  formats::PadMode pad_mode_;
};

}  // namespace xtts::dsp
