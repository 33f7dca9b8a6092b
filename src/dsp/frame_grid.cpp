#include "dsp/frame_grid.hpp"

namespace xtts::dsp {
namespace {

std::int64_t front_padding(const formats::StftConfig& config) {
  const std::int64_t n_fft = config.n_fft;
  const std::int64_t hop = config.hop_samples;
  switch (config.framing) {
    case formats::Framing::kCenter:
      return n_fft / 2;
    case formats::Framing::kSame:
      return hop < n_fft ? (n_fft - hop) / 2 : 0;
    case formats::Framing::kNone:
    case formats::Framing::kEnd:
      return 0;
  }
  return 0;
}

}  // namespace

FrameGrid::FrameGrid(const formats::StftConfig& config) noexcept
    : n_fft_(config.n_fft),
      hop_(config.hop_samples),
      pad_(front_padding(config)),
      framing_(config.framing),
      pad_mode_(config.framing == formats::Framing::kEnd ? formats::PadMode::kZeros
                                                         : config.pad_mode) {}

std::uint64_t FrameGrid::frame_count(std::uint64_t sample_count) const noexcept {
  if (sample_count == 0) return 0;
  const auto samples = static_cast<std::int64_t>(sample_count);
  if (framing_ == formats::Framing::kEnd) {
    return static_cast<std::uint64_t>((samples + hop_ - 1) / hop_);
  }
  const std::int64_t room = samples + 2 * pad_ - n_fft_;
  return room < 0 ? 0 : static_cast<std::uint64_t>(1 + room / hop_);
}

std::uint64_t FrameGrid::samples_of(std::uint64_t frame_count) const noexcept {
  if (frame_count == 0) return 0;
  return (frame_count - 1) * static_cast<std::uint64_t>(hop_) + static_cast<std::uint64_t>(n_fft_);
}

bool FrameGrid::can_pad(std::uint64_t sample_count) const noexcept {
  if (pad_mode_ == formats::PadMode::kZeros || pad_ == 0) return true;
  return sample_count > static_cast<std::uint64_t>(pad_);
}

float FrameGrid::sample(std::span<const float> clip, std::int64_t position) const noexcept {
  const auto last = static_cast<std::int64_t>(clip.size()) - 1;
  if (pad_mode_ == formats::PadMode::kReflect) {
    if (position < 0) position = -position;
    if (position > last) position = 2 * last - position;
  }
  return position < 0 || position > last ? 0.0F : clip[static_cast<std::size_t>(position)];
}

const float* FrameGrid::frame(std::span<const float> clip, std::uint64_t frame_index,
                              std::span<float> scratch) const noexcept {
  const std::int64_t start = static_cast<std::int64_t>(frame_index) * hop_ - pad_;
  if (start >= 0 && start + n_fft_ <= static_cast<std::int64_t>(clip.size())) {
    return clip.data() + start;
  }
  for (std::int64_t n = 0; n < n_fft_; ++n) {
    scratch[static_cast<std::size_t>(n)] = sample(clip, start + n);
  }
  return scratch.data();
}

}  // namespace xtts::dsp
