#include <algorithm>
#include <utility>

#include "base/float_range.hpp"
#include "base/try.hpp"
#include "dsp/aligned_buffer.hpp"
#include "dsp/feature_tables.hpp"
#include "dsp/frame_engine.hpp"
#include "dsp/frame_grid.hpp"
#include "dsp/frame_steps.hpp"
#include "dsp/kernels.hpp"
#include "dsp/spectrum.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp {
namespace {

using formats::SoundColumn;

// Works on blocks of kBlockFrames frames. Its buffers are about 60 KB at 1,024 points and 80 bands;
// the per-frame steps touch 28 KB of them.
class CpuEngine final : public FrameEngine {
 public:
  CpuEngine(const formats::FeatureConfig& config, std::unique_ptr<SpectrumStage> stage, Isa isa)
      : grid_(config),
        bin_count_(config.bin_count()),
        is_power_(config.spectrum == formats::SpectrumKind::kPower),
        is_unfiltered_(config.mel.scale == formats::MelScale::kNone),
        channel_count_(config.channel_count()),
        padded_channel_count_(round_up(channel_count_, kVectorFloats)),
        row_stride_(round_up(bin_count_, kVectorFloats)),
        spectrum_(std::move(stage)),
        kernels_(find_kernels(isa)->block),
        filters_(config),
        compression_(make_compression(config)),
        edge_frame_(config.stft.n_fft),
        rows_(kBlockFrames * row_stride_),
        transposed_(is_unfiltered_ ? 0 : kBlockFrames * row_stride_),
        bands_(is_unfiltered_ ? 0 : kBlockFrames * padded_channel_count_),
        frames_(is_unfiltered_ ? 0 : kBlockFrames * padded_channel_count_) {}

  [[nodiscard]] Status run(std::span<const float> samples, std::uint64_t frame_count,
                           const FrameRows& out) override {
    for (std::uint64_t first = 0; first < frame_count; first += kBlockFrames) {
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(kBlockFrames, frame_count - first));
      if (!run_block(samples, first, count, out)) return mels_are_not_finite();
    }
    return {};
  }

 private:
  // Returns false if a mel is not finite before the logarithm. Lanes without a frame keep the rows
  // of an earlier block: lanes do not mix, and nobody reads the result of these.
  [[nodiscard]] bool run_block(std::span<const float> samples, std::uint64_t first_frame,
                               std::size_t count, const FrameRows& out) {
    for (std::size_t i = 0; i < count; ++i) {
      const float* frame = grid_.frame(samples, first_frame + i, edge_frame_.span());
      float* const row = rows_.data() + i * row_stride_;
      spectrum_->run(frame, row);
      if (const std::span<float> linear = out[SoundColumn::kLinear]; !linear.empty())
        std::copy_n(row, bin_count_, linear.data() + (first_frame + i) * bin_count_);
      if (const std::span<float> energy = out[SoundColumn::kEnergy]; !energy.empty())
        energy[first_frame + i] = energy_of(row, bin_count_, is_power_);
    }
    const std::span<float> mel = out[SoundColumn::kMel];
    if (mel.empty()) return true;
    if (!is_unfiltered_) run_filters();
    if (!is_finite(count)) return false;
    const float* const made = is_unfiltered_ ? compress_rows() : compress_bands();
    const std::size_t stride = is_unfiltered_ ? row_stride_ : padded_channel_count_;
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(made + i * stride, channel_count_,
                  mel.data() + (first_frame + i) * channel_count_);
    }
    return true;
  }

  // Checks the mels, or bins, of the first `count` frames before the logarithm. The logarithm's
  // kernels are proved for finite numbers only, and a normalization by the whole clip spreads one
  // bad value over it. An infinite bin makes each band that contains it infinite or NaN.
  [[nodiscard]] bool is_finite(std::size_t count) const {
    if (is_unfiltered_) {
      bool are_finite = true;
      for (std::size_t i = 0; i < count; ++i)
        are_finite &= range_of({rows_.data() + i * row_stride_, bin_count_}).is_finite();
      return are_finite;
    }
    if (count == kBlockFrames)
      return range_of({bands_.data(), channel_count_ * kBlockFrames}).is_finite();
    // The other lanes hold frames of another clip, which may be not finite.
    bool are_finite = true;
    for (std::size_t channel = 0; channel < channel_count_; ++channel)
      are_finite &= range_of({bands_.data() + channel * kBlockFrames, count}).is_finite();
    return are_finite;
  }

  const float* compress_rows() {
    kernels_.compress(compression_, rows_.data(), rows_.size());
    return rows_.data();
  }

  void run_filters() {
    kernels_.mel(rows_.data(), row_stride_, filters_.spans(), transposed_.data(), bands_.data());
  }

  const float* compress_bands() {
    // The rows beyond the last band only fill up vectors. Without the zeros they would be
    // compressed again and again.
    const std::span<float> unused = bands_.span().subspan(channel_count_ * kBlockFrames);
    std::fill(unused.begin(), unused.end(), 0.0F);
    kernels_.compress(compression_, bands_.data(), bands_.size());
    kernels_.to_frames(bands_.data(), padded_channel_count_, frames_.data());
    return frames_.data();
  }

  FrameGrid grid_;
  std::size_t bin_count_;
  bool is_power_;
  bool is_unfiltered_;  // the bins are the channels
  std::size_t channel_count_;
  std::size_t padded_channel_count_;
  std::size_t row_stride_;
  std::unique_ptr<SpectrumStage> spectrum_;
  const BlockKernels& kernels_;
  PackedFilters filters_;
  Compression compression_;
  AlignedBuffer<float> edge_frame_;
  AlignedBuffer<float> rows_;        // [kBlockFrames][row_stride_]
  AlignedBuffer<float> transposed_;  // [row_stride_][kBlockFrames]
  AlignedBuffer<float> bands_;       // [padded_channel_count_][kBlockFrames]
  AlignedBuffer<float> frames_;      // [kBlockFrames][padded_channel_count_]
};

}  // namespace

Result<std::unique_ptr<FrameEngine>> make_cpu_engine(const formats::FeatureConfig& config,
                                                     Isa isa) {
  const Isa used = isa == Isa::kBest ? best_isa() : isa;
  XTTS_ASSIGN(std::unique_ptr<SpectrumStage> stage, SpectrumStage::create(config, used));
  return std::unique_ptr<FrameEngine>(std::make_unique<CpuEngine>(config, std::move(stage), used));
}

Status mels_are_not_finite() {
  return {StatusCode::kBadInput, "its mels are beyond float32 or no numbers"};
}

}  // namespace xtts::dsp
