// FrameGrid: where the frames of a clip lie, and the samples of those that reach over its ends.
// Immutable, share freely.
//
// A clip of n samples is framed as one of s: zeros in front of it and behind it, as the recipe says
// (`zeros`), or behind it up to max_frames hops (`pad: samples`). Frame f is n_fft samples from
//   kCenter     f hop - n_fft / 2              1 + (s + 2 (n_fft / 2) - n_fft) / hop of them
//   kSame       f hop - (n_fft - hop) / 2      1 + (s + 2 ((n_fft - hop) / 2) - n_fft) / hop
//   kNone       f hop                          1 + (s - n_fft) / hop
//   kEnd        f hop, zeros follow            ceil(s / hop)
//   kSnipEdges  f hop                          1 + (s - win) / hop
//   kKeepEdges  f hop + hop / 2 - win / 2      (s + hop / 2) / hop
// (whole divisions; none where n is 0 or what is divided is negative), less the last one
// (drop_last), less those that fill no multiple (multiple_frames).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dsp/frame_steps.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp {

class FrameGrid {
 public:
  explicit FrameGrid(const formats::FeatureConfig& config) noexcept;

  [[nodiscard]] std::uint64_t frame_count(std::uint64_t sample_count) const noexcept;
  // The number of frames that reach a sample of the clip, if more than the padding follows: all of
  // them, unless pad: samples. All later frames are made of zeros.
  [[nodiscard]] std::uint64_t touched_frame_count(std::uint64_t sample_count) const noexcept;
  // The number of a longer clip's first samples that decide its first `frame_count` frames, for
  // every framing.
  [[nodiscard]] std::uint64_t samples_of(std::uint64_t frame_count) const noexcept;
  // kReflect needs more samples than it mirrors: sample 0 is the mirror and is not repeated.
  [[nodiscard]] bool can_pad(std::uint64_t sample_count) const noexcept;
  // The n_fft samples of a frame: a view into `clip` if the frame lies inside, else a copy in
  // `scratch` (n_fft long).
  [[nodiscard]] const float* frame(std::span<const float> clip, std::uint64_t frame_index,
                                   std::span<float> scratch) const noexcept;

  // For engines that find the samples by themselves (frame_steps.hpp). Frame f begins at position
  // f hop - lead.
  [[nodiscard]] ClipShape shape_of(std::uint64_t sample_count) const noexcept;
  [[nodiscard]] std::int64_t lead() const noexcept { return lead_; }

 private:
  [[nodiscard]] std::int64_t framed_samples(std::uint64_t sample_count) const noexcept;

  std::int64_t n_fft_;
  std::int64_t win_;
  std::int64_t hop_;
  std::int64_t lead_;            // distance from frame 0's begin to the first sample
  std::int64_t padded_samples_;  // length of every clip; 0: as it is
  formats::ZerosConfig zeros_;
  formats::Framing framing_;
  formats::PadMode pad_mode_;
  bool drop_last_;
  std::uint64_t multiple_frames_;
};

}  // namespace xtts::dsp
