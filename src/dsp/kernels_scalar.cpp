// The reference: plain loops, kept for ever. The SIMD kernels must give the same bits.
#include "dsp/kernels.hpp"
#include "dsp/kernels_common.hpp"

namespace xtts::dsp {
namespace {

template <typename Real>
void apply_window(const float* samples, const Real* window, Real* out, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) out[n] = static_cast<Real>(samples[n]) * window[n];
}

template <typename Real>
void spectrum(const Real* transform, const UnpackTable<Real>& table, SpectrumOp op, float floor,
              float* row) {
  unpack_ends(transform, table.half, op, floor, row);
  for (std::size_t k = 1; k <= table.half / 2; ++k) {
    unpack_pair(transform, table, k, op, floor, row);
  }
}

void mel(const float* rows, std::size_t stride, const MelSpans& spans, float* /*scratch*/,
         float* bands) {
  const float* weights = spans.weights;
  for (std::size_t m = 0; m < spans.mel_count; ++m) {
    for (std::size_t frame = 0; frame < kBlockFrames; ++frame) {
      const float* bins = rows + frame * stride + spans.first_bins[m];
      bands[m * kBlockFrames + frame] = dot(bins, weights, spans.bin_counts[m]);
    }
    weights += spans.bin_counts[m];
  }
}

void compress(const Compression& how, float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = compress_one(how, values[i]);
}

void to_frames(const float* bands, std::size_t mel_count, float* frames) {
  for (std::size_t frame = 0; frame < kBlockFrames; ++frame) {
    for (std::size_t m = 0; m < mel_count; ++m) {
      frames[frame * mel_count + m] = bands[m * kBlockFrames + frame];
    }
  }
}

constexpr std::uint8_t kOnlyLane[] = {0};
constexpr Kernels kScalar = {
    .in_double = {1, kOnlyLane, apply_window<double>, spectrum<double>},
    .in_float = {1, kOnlyLane, apply_window<float>, spectrum<float>},
    .block = {mel, compress, to_frames},
};

}  // namespace

const Kernels& scalar_kernels() noexcept {
  return kScalar;
}

}  // namespace xtts::dsp
