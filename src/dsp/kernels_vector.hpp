// The vector kernels, written once over a set of lanes; kernels_avx2.cpp and kernels_avx512.cpp
// supply the lanes and the compiler flags. In an unnamed namespace: see kernels.hpp.
//
// A Lanes class offers, for its Real:
//   Vector                        kLanes values of Real
//   load_floats(p)                kLanes samples, converted
//   split(p, re, im)              complex p[0 ... kLanes), in the order kOrder
//   split_reversed(p, re, im)     complex p[0], p[-1], ..., in the same order
//   Narrow, narrow(near, far)     both as float32, still in that order
//   add(n, x), root(n)            of each value
//   store(p, q, n)                p[0 ... kLanes) = near, then q[0], q[-1], ... = far, in natural
//   order
#pragma once

#include <immintrin.h>

#include "dsp/kernels_common.hpp"

namespace xtts::dsp {
namespace {

template <typename Lanes, typename Real>
void apply_window(const float* samples, const Real* window, Real* out, std::size_t count) {
  using Vector = typename Lanes::Vector;
  std::size_t n = 0;
#pragma GCC unroll 4
  for (; n + Lanes::kLanes <= count; n += Lanes::kLanes) {
    const Vector weights = *reinterpret_cast<const Vector*>(window + n);
    *reinterpret_cast<Vector*>(out + n) = Lanes::load_floats(samples + n) * weights;
  }
  for (; n < count; ++n) out[n] = static_cast<Real>(samples[n]) * window[n];
}

// Rounds both powers to float32 and applies the op. Narrow holds the pair: joining two vectors is
// cheaper than a second root.
template <typename Lanes, SpectrumOp kOp>
inline typename Lanes::Narrow finish(typename Lanes::Vector near, typename Lanes::Vector far,
                                     float floor) {
  typename Lanes::Narrow value = Lanes::narrow(near, far);
  if constexpr (kOp == SpectrumOp::kRootPlus) value = Lanes::add(value, floor);
  if constexpr (kOp != SpectrumOp::kPower) value = Lanes::root(value);
  return value;
}

// Does unpack_pair for kLanes values of k at once.
template <typename Lanes, SpectrumOp kOp, typename Real>
inline void unpack_group(const Real* z, const UnpackTable<Real>& table, std::size_t k, float floor,
                         float* row) {
  using Vector = typename Lanes::Vector;
  Vector front_re, front_im, back_re, back_im;
  Lanes::split(z + 2 * k, front_re, front_im);
  Lanes::split_reversed(z + 2 * (table.half - k), back_re, back_im);
  const Vector sine = Lanes::load(table.sines + (k - 1));
  const Vector cosine = Lanes::load(table.cosines + (k - 1));
  const Vector sum_re = front_re + back_re;
  const Vector sum_im = front_im - back_im;
  const Vector difference_re = front_re - back_re;
  const Vector difference_im = front_im + back_im;
  const Vector turned_re = difference_im * cosine - difference_re * sine;
  const Vector turned_im = difference_re * cosine + difference_im * sine;
  const Vector near_re = sum_re + turned_re;
  const Vector near_im = sum_im - turned_im;
  const Vector far_re = sum_re - turned_re;
  const Vector far_im = sum_im + turned_im;
  const auto values = finish<Lanes, kOp>(near_re * near_re + near_im * near_im,
                                         far_re * far_re + far_im * far_im, floor);
  Lanes::store(row + k, row + (table.half - k), values);
}

template <typename Lanes, SpectrumOp kOp, typename Real>
void spectrum_by_op(const Real* z, const UnpackTable<Real>& table, float floor, float* row) {
  unpack_ends(z, table.half, kOp, floor, row);
  std::size_t k = 1;
  for (; k + Lanes::kLanes <= table.half / 2 + 1; k += Lanes::kLanes) {
    unpack_group<Lanes, kOp>(z, table, k, floor, row);
  }
  for (; k <= table.half / 2; ++k) unpack_pair(z, table, k, kOp, floor, row);
}

template <typename Lanes, typename Real>
void spectrum(const Real* z, const UnpackTable<Real>& table, SpectrumOp op, float floor,
              float* row) {
  switch (op) {
    case SpectrumOp::kPower:
      return spectrum_by_op<Lanes, SpectrumOp::kPower>(z, table, floor, row);
    case SpectrumOp::kMagnitude:
      return spectrum_by_op<Lanes, SpectrumOp::kMagnitude>(z, table, floor, row);
    case SpectrumOp::kRootPlus:
      return spectrum_by_op<Lanes, SpectrumOp::kRootPlus>(z, table, floor, row);
  }
}

using Floats8 = __m256;

// to[c * to_stride + r] = from[r * from_stride + c], r, c < 8.
inline void transpose8(const float* from, std::size_t from_stride, float* to,
                       std::size_t to_stride) {
  Floats8 r[8], t[8];
  for (std::size_t i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(from + i * from_stride);
  for (std::size_t i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const Floats8* half = t + 4 * i;
    r[4 * i] = _mm256_shuffle_ps(half[0], half[2], _MM_SHUFFLE(1, 0, 1, 0));
    r[4 * i + 1] = _mm256_shuffle_ps(half[0], half[2], _MM_SHUFFLE(3, 2, 3, 2));
    r[4 * i + 2] = _mm256_shuffle_ps(half[1], half[3], _MM_SHUFFLE(1, 0, 1, 0));
    r[4 * i + 3] = _mm256_shuffle_ps(half[1], half[3], _MM_SHUFFLE(3, 2, 3, 2));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * to_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * to_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}

// One frame a lane, with the same two running sums as in the scalar kernel.
void mel(const float* rows, std::size_t stride, const MelSpans& spans, float* scratch,
         float* bands) {
  for (std::size_t bin = 0; bin < spans.bin_count; bin += 8) {
    transpose8(rows + bin, stride, scratch + bin * kBlockFrames, kBlockFrames);
  }
  const float* weights = spans.weights;
  for (std::size_t m = 0; m < spans.mel_count; ++m) {
    const float* bins = scratch + std::size_t{spans.first_bins[m]} * kBlockFrames;
    const std::size_t count = spans.bin_counts[m];
    Floats8 even = _mm256_setzero_ps();
    Floats8 odd = _mm256_setzero_ps();
    for (std::size_t i = 0; i + 1 < count; i += 2) {
      const float* pair = bins + i * kBlockFrames;
      even = even + _mm256_load_ps(pair) * _mm256_broadcast_ss(weights + i);
      odd = odd + _mm256_load_ps(pair + kBlockFrames) * _mm256_broadcast_ss(weights + i + 1);
    }
    if (count % 2 != 0) {
      const float* last = bins + (count - 1) * kBlockFrames;
      even = even + _mm256_load_ps(last) * _mm256_broadcast_ss(weights + count - 1);
    }
    _mm256_store_ps(bands + m * kBlockFrames, even + odd);
    weights += count;
  }
}

void to_frames(const float* bands, std::size_t mel_count, float* frames) {
  for (std::size_t m = 0; m < mel_count; m += 8) {
    transpose8(bands + m * kBlockFrames, kBlockFrames, frames + m, mel_count);
  }
}

// Does log_of and compress_one for the vectors of Wide: Floats, and Integers of the same width.
template <typename Wide>
inline typename Wide::Floats log_lanes(typename Wide::Floats x) {
  using Floats = typename Wide::Floats;
  using Integers = typename Wide::Integers;
  const Integers offset = reinterpret_cast<Integers>(x) - LogConstants::kSqrtHalfBits;
  const Integers exponent = offset >> LogConstants::kMantissaBits;
  const Integers mantissa = (offset & LogConstants::kMantissaMask) + LogConstants::kSqrtHalfBits;
  const Floats f = reinterpret_cast<Floats>(mantissa) - 1.0F;
  const Floats e = __builtin_convertvector(exponent, Floats);
  Floats p = f * LogConstants::kPolynomial.factors[0] + LogConstants::kPolynomial.factors[1];
  for (int i = 2; i < 9; ++i) p = p * f + LogConstants::kPolynomial.factors[i];
  const Floats square = f * f;
  Floats y = f * square * p;
  y = y + e * LogConstants::kLn2Low;
  y = y - 0.5F * square;
  y = (f + y) + e * LogConstants::kLn2High;
  return x <= 3.402823466e+38F ? y : x;
}

template <typename Wide>
void compress(const Compression& how, float* values, std::size_t count) {
  using Floats = typename Wide::Floats;
  const Floats floor = Floats{} + how.floor;
  for (std::size_t i = 0; i < count; i += sizeof(Floats) / sizeof(float)) {
    auto& value = *reinterpret_cast<Floats*>(values + i);
    Floats x = value;
    if (how.has_log) {
      x = how.floor_mode == Compression::Floor::kAdd ? x + floor : (floor > x ? floor : x);
      x = log_lanes<Wide>(x) * how.log_scale;
    }
    value = how.has_affine ? (x - how.offset) / how.scale : x;
  }
}

}  // namespace
}  // namespace xtts::dsp
