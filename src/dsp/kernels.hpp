// The inner loops of the features, in three versions (scalar, AVX2, AVX-512) behind one table that
// is chosen at run time.
//
// All versions agree bit for bit. For each value they do the same IEEE operations in the same order
// (no fused multiply-add, no re-association); they differ only in how many values they do at once.
// tests/unit/dsp/kernels_test.cpp compares them with memcmp. Fused multiply-adds are left out for
// this; measured, they gained nothing here.
//
// Raw pointers and plain structs on purpose. The SIMD files are compiled with their own flags. If
// they instantiated an inline function of a library header, the linker could keep that one for the
// whole program, which would then die of an illegal instruction on an older processor.
//
// Immutable, share freely. Nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dsp/isa.hpp"

namespace xtts::dsp {

// Frames that go through the mel filters together, one frame a lane. Results do not depend on it.
inline constexpr std::size_t kBlockFrames = 8;

enum class SpectrumOp : std::uint8_t { kPower, kMagnitude, kRootPlus };

// A table that turns the complex transform Z of n_fft / 2 points, made of a real frame's even
// samples (re) and odd samples (im), into the frame's own spectrum X. With h = n_fft / 2, t = 2 pi
// k / n_fft, and the frame scaled by 1/2 beforehand:
//   S = Z[k] + conj Z[h-k],  D = Z[k] - conj Z[h-k],  T = D (-sin t - i cos t),  |X[k]| = |S + T|,
//   |X[h-k]| = |S - T|
// `sines` and `cosines` hold k = 1 ... h / 2, and within each full group of `lanes` in the order
// the kernel asks for.
template <typename Real>
struct UnpackTable {
  std::size_t half = 0;
  const Real* sines = nullptr;
  const Real* cosines = nullptr;
};

struct MelSpans {
  const std::uint32_t* first_bins = nullptr;  // [mel_count]
  const std::uint32_t* bin_counts = nullptr;  // [mel_count]
  const float* weights = nullptr;             // end to end
  std::size_t mel_count = 0;
  std::size_t bin_count =
      0;  // bins that any filter looks at, rounded up to 8; at most the row's stride
};

// log, then (x - offset) / scale. `floor` is a normal number where there is a log, so no zero
// reaches it.
struct Compression {
  enum class Floor : std::uint8_t { kClamp, kAdd };
  bool has_log = true;
  Floor floor_mode = Floor::kClamp;
  float floor = 1e-5F;
  float log_scale = 1.0F;  // 1 for ln, 1 / ln 10 for log10
  bool has_affine = false;
  float offset = 0.0F;
  float scale = 1.0F;
};

template <typename Real>
struct FrameKernels {
  std::size_t lanes = 1;                     // bins that `spectrum` computes at once
  const std::uint8_t* lane_order = nullptr;  // [lanes], the order of the table within a group
  // out[n] = x[n] w[n]; w and out aligned to 64 bytes, x not.
  void (*apply_window)(const float* samples, const Real* window, Real* out,
                       std::size_t count) = nullptr;
  // row[k], k = 0 ... half: power, its root, or the root of power + floor. The power is rounded to
  // float32 first.
  void (*spectrum)(const Real* transform, const UnpackTable<Real>& table, SpectrumOp op,
                   float floor, float* row) = nullptr;
};

struct BlockKernels {
  // rows [kBlockFrames][stride] -> bands [mel_count][kBlockFrames]; `scratch` holds stride *
  // kBlockFrames floats.
  void (*mel)(const float* rows, std::size_t stride, const MelSpans& spans, float* scratch,
              float* bands) = nullptr;
  // In place; count is a multiple of 16.
  void (*compress)(const Compression& how, float* values, std::size_t count) = nullptr;
  // bands [mel_count][kBlockFrames] -> frames [kBlockFrames][mel_count]; mel_count a multiple of 8.
  void (*to_frames)(const float* bands, std::size_t mel_count, float* frames) = nullptr;
};

struct Kernels {
  FrameKernels<double> in_double;
  FrameKernels<float> in_float;
  BlockKernels block;
};

[[nodiscard]] const Kernels& scalar_kernels() noexcept;
[[nodiscard]] const Kernels* avx2_kernels() noexcept;    // null if the compiler's target has none
[[nodiscard]] const Kernels* avx512_kernels() noexcept;  // likewise

// Null if this build or this processor lacks `isa`.
[[nodiscard]] const Kernels* find_kernels(Isa isa) noexcept;

}  // namespace xtts::dsp
