#include "dsp/frame_grid.hpp"

#include <algorithm>

namespace xtts::dsp {
namespace {

using formats::Framing;
using formats::PadMode;

std::int64_t lead_of(const formats::StftConfig& config) {
  const std::int64_t n_fft = config.n_fft;
  const std::int64_t hop = config.hop_samples;
  switch (config.framing) {
    case Framing::kCenter:
      return n_fft / 2;
    case Framing::kSame:
      return hop < n_fft ? (n_fft - hop) / 2 : 0;
    case Framing::kKeepEdges:
      return std::int64_t{config.win_samples} / 2 - hop / 2;
    case Framing::kNone:
    case Framing::kEnd:
    case Framing::kSnipEdges:
      return 0;
  }
  return 0;
}

PadMode pad_mode_of(const formats::StftConfig& config) {
  if (config.framing == Framing::kEnd) return PadMode::kZeros;
  return config.framing == Framing::kKeepEdges ? PadMode::kSymmetric : config.pad_mode;
}

ClipShape::Beyond beyond_of(PadMode mode) {
  if (mode == PadMode::kZeros) return ClipShape::Beyond::kZeros;
  return mode == PadMode::kSymmetric ? ClipShape::Beyond::kMirrorTwice : ClipShape::Beyond::kMirror;
}

}  // namespace

FrameGrid::FrameGrid(const formats::FeatureConfig& config) noexcept
    : n_fft_(config.stft.n_fft),
      win_(config.stft.win_samples),
      hop_(config.stft.hop_samples),
      lead_(lead_of(config.stft)),
      padded_samples_(config.pad == formats::PadWhat::kSamples
                          ? static_cast<std::int64_t>(config.padded_samples())
                          : 0),
      zeros_(config.zeros),
      framing_(config.stft.framing),
      pad_mode_(pad_mode_of(config.stft)),
      drop_last_(config.stft.drop_last),
      multiple_frames_(config.stft.multiple_frames) {}

// A clip longer than its padding keeps its length: its frames decide whether it is too long.
std::int64_t FrameGrid::framed_samples(std::uint64_t sample_count) const noexcept {
  const auto samples = static_cast<std::int64_t>(sample_count);
  if (padded_samples_ != 0) return std::max(samples, padded_samples_);
  const std::int64_t multiple = zeros_.multiple_samples;
  const std::int64_t with_zeros =
      samples + std::int64_t{zeros_.front_samples} + std::int64_t{zeros_.back_samples};
  return (with_zeros + multiple - 1) / multiple * multiple;
}

std::uint64_t FrameGrid::frame_count(std::uint64_t sample_count) const noexcept {
  if (sample_count == 0) return 0;
  const std::int64_t samples = framed_samples(sample_count);
  std::int64_t frames = 0;
  if (framing_ == Framing::kEnd) {
    frames = (samples + hop_ - 1) / hop_;
  } else if (framing_ == Framing::kKeepEdges) {
    frames = (samples + hop_ / 2) / hop_;
  } else {
    const std::int64_t length = framing_ == Framing::kSnipEdges ? win_ : n_fft_;
    const std::int64_t room = samples + 2 * lead_ - length;
    frames = room < 0 ? 0 : 1 + room / hop_;
  }
  if (drop_last_ && frames > 0) --frames;
  const auto whole = static_cast<std::uint64_t>(frames);
  return whole - whole % multiple_frames_;
}

std::uint64_t FrameGrid::touched_frame_count(std::uint64_t sample_count) const noexcept {
  const std::uint64_t frames = frame_count(sample_count);
  const auto samples = static_cast<std::int64_t>(sample_count);
  if (padded_samples_ == 0 || samples >= padded_samples_) return frames;
  const bool is_mirrored = pad_mode_ != PadMode::kZeros;
  // The mirror at the far end repeats the samples within its reach.
  const std::int64_t reach = n_fft_ - lead_;
  if (is_mirrored && padded_samples_ - samples <= reach) return frames;
  const auto touched = static_cast<std::uint64_t>((samples + lead_ + hop_ - 1) / hop_);
  return std::min(frames, touched);
}

std::uint64_t FrameGrid::samples_of(std::uint64_t frame_count) const noexcept {
  if (frame_count == 0) return 0;
  return (frame_count - 1) * static_cast<std::uint64_t>(hop_) + static_cast<std::uint64_t>(n_fft_);
}

bool FrameGrid::can_pad(std::uint64_t sample_count) const noexcept {
  if (pad_mode_ != PadMode::kReflect || lead_ == 0) return true;
  return framed_samples(sample_count) > lead_;
}

ClipShape FrameGrid::shape_of(std::uint64_t sample_count) const noexcept {
  return {.sample_count = static_cast<std::int64_t>(sample_count),
          .framed_count = framed_samples(sample_count),
          .front_zeros = zeros_.front_samples,
          .beyond = beyond_of(pad_mode_)};
}

const float* FrameGrid::frame(std::span<const float> clip, std::uint64_t frame_index,
                              std::span<float> scratch) const noexcept {
  const std::int64_t start = static_cast<std::int64_t>(frame_index) * hop_ - lead_;
  const std::int64_t in_clip = start - zeros_.front_samples;
  if (in_clip >= 0 && in_clip + n_fft_ <= static_cast<std::int64_t>(clip.size())) {
    return clip.data() + in_clip;
  }
  const ClipShape shape = shape_of(clip.size());
  for (std::int64_t n = 0; n < n_fft_; ++n) {
    scratch[static_cast<std::size_t>(n)] = sample_at(shape, clip.data(), start + n);
  }
  return scratch.data();
}

}  // namespace xtts::dsp
