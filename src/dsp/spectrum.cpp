#include "dsp/spectrum.hpp"

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "dsp/aligned_buffer.hpp"
#include "dsp/feature_tables.hpp"
#include "dsp/fft.hpp"
#include "dsp/frame_steps.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp {
namespace {

// sin and cos of 2 pi k / n_fft for k = 1 ... half / 2, in the kernel's order within each full
// group.
template <typename Real>
struct Twiddles {
  Twiddles(std::size_t half, const FrameKernels<Real>& kernels)
      : sines(half / 2), cosines(half / 2) {
    const std::size_t in_groups = half / 2 - half / 2 % kernels.lanes;
    for (std::size_t i = 0; i < half / 2; ++i) {
      const std::size_t lane = i % kernels.lanes;
      const std::size_t k = 1 + (i < in_groups ? i - lane + kernels.lane_order[lane] : i);
      const Turn turn = turn_of(k, half);
      sines[i] = static_cast<Real>(turn.sine);
      cosines[i] = static_cast<Real>(turn.cosine);
    }
  }
  AlignedBuffer<Real> sines;
  AlignedBuffer<Real> cosines;
};

// Kaldi's steps on the win_samples of a frame before its window. It subtracts their mean
// (remove_dc), then x[i] becomes x[i] - preemphasis x[i - 1]; the first sample counts as its own
// predecessor.
class FrameEmphasis {
 public:
  explicit FrameEmphasis(const formats::StftConfig& config) noexcept
      : first_(formats::window_start(config)),
        count_(config.win_samples),
        remove_dc_(config.remove_dc),
        preemphasis_(config.preemphasis) {}

  [[nodiscard]] bool is_needed() const noexcept { return remove_dc_ || preemphasis_ != 0.0; }

  // out[n] = frame[n] after these steps, times window[n]; zeros beside the window.
  template <typename Real>
  void apply(const float* frame, std::type_identity_t<std::span<const Real>> window,
             Real* out) const noexcept {
    for (std::size_t n = 0; n < window.size(); ++n) out[n] = Real{0};
    const float* const samples = frame + first_;
    const Real mean = remove_dc_
                          ? mean_of<Real>(count_, [samples](std::size_t i) { return samples[i]; })
                          : Real{0};
    const auto factor = static_cast<Real>(preemphasis_);
    Real before = static_cast<Real>(samples[0]) - mean;
    for (std::size_t i = 0; i < count_; ++i) {
      const Real x = static_cast<Real>(samples[i]) - mean;
      out[first_ + i] = emphasized(x, before, factor, window[first_ + i]);
      before = x;
    }
  }

 private:
  std::size_t first_;
  std::size_t count_;
  bool remove_dc_;
  double preemphasis_;
};

template <typename Real>
class HalfSizeSpectrum final : public SpectrumStage {
 public:
  HalfSizeSpectrum(const formats::FeatureConfig& config, const FrameKernels<Real>& kernels,
                   ComplexFft<Real> fft)
      : kernels_(kernels),
        fft_(std::move(fft)),
        window_(config.stft.n_fft),
        twiddles_(config.stft.n_fft / 2, kernels),
        table_{config.stft.n_fft / 2, twiddles_.sines.data(), twiddles_.cosines.data()},
        op_(spectrum_op(config)),
        floor_(static_cast<float>(config.spectrum_floor)),
        emphasis_(config.stft) {
    const std::vector<double> window = make_scaled_window(config);
    for (std::size_t n = 0; n < window.size(); ++n) window_[n] = static_cast<Real>(window[n]);
  }

  void run(const float* frame, float* row) noexcept override {
    if (emphasis_.is_needed()) {
      emphasis_.apply(frame, window_.span(), fft_.input());
    } else {
      kernels_.apply_window(frame, window_.data(), fft_.input(), window_.size());
    }
    fft_.execute();
    kernels_.spectrum(fft_.output(), table_, op_, floor_, row);
  }

 private:
  const FrameKernels<Real>& kernels_;
  ComplexFft<Real> fft_;
  AlignedBuffer<Real> window_;
  Twiddles<Real> twiddles_;
  UnpackTable<Real> table_;
  SpectrumOp op_;
  float floor_;
  FrameEmphasis emphasis_;
};

template <typename Real>
Result<std::unique_ptr<SpectrumStage>> create_in(const formats::FeatureConfig& config,
                                                 const FrameKernels<Real>& kernels,
                                                 FftCodelets codelets) {
  XTTS_ASSIGN(ComplexFft<Real> fft, ComplexFft<Real>::create(config.stft.n_fft / 2, codelets));
  return std::unique_ptr<SpectrumStage>(
      std::make_unique<HalfSizeSpectrum<Real>>(config, kernels, std::move(fft)));
}

}  // namespace

Result<std::unique_ptr<SpectrumStage>> SpectrumStage::create(const formats::FeatureConfig& config,
                                                             Isa isa) {
  const Kernels* kernels = find_kernels(isa);
  if (kernels == nullptr) {
    return Status(
        StatusCode::kInvalidArgument,
        "this processor or build lacks the instruction set " + std::string(to_string(isa)));
  }
  if (config.stft.n_fft < 4 || config.stft.n_fft % 2 != 0) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("stft.n_fft must be even and at least 4, not {}", config.stft.n_fft));
  }
  const FftCodelets codelets = isa == Isa::kScalar ? FftCodelets::kPortable : FftCodelets::kFastest;
  if (config.precision == formats::Precision::kFloat32) {
    return create_in<float>(config, kernels->in_float, codelets);
  }
  return create_in<double>(config, kernels->in_double, codelets);
}

}  // namespace xtts::dsp
