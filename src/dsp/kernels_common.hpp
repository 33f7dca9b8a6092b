// The steps of the scalar kernels. The SIMD kernels use them for values that do not fill a vector.
// They are in an unnamed namespace on purpose: each file has its own copy, compiled with its own
// flags (see kernels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "dsp/kernels.hpp"

namespace xtts::dsp {
namespace {

// log(x), x a positive normal number: x = m 2^e with m in [sqrt(1/2), sqrt(2)), log m by a
// polynomial. Coefficients and scheme of logf in the Cephes library (S. Moshier). Within 0.82 ulp
// of the truth at every 61st normal float (kernels_test.cpp).
struct LogConstants {
  static constexpr std::int32_t kSqrtHalfBits = 0x3f3504f3;
  static constexpr std::int32_t kMantissaBits = 23;
  static constexpr std::int32_t kMantissaMask = 0x007fffff;
  static constexpr float kLn2High = 0.693359375F;
  static constexpr float kLn2Low = -2.12194440e-4F;
  struct Polynomial {
    float factors[9];
  };
  static constexpr Polynomial kPolynomial = {
      {7.0376836292e-2F, -1.1514610310e-1F, 1.1676998740e-1F, -1.2420140846e-1F, 1.4249322787e-1F,
       -1.6668057665e-1F, 2.0000714765e-1F, -2.4999993993e-1F, 3.3333331174e-1F}};
};

[[maybe_unused]] XTTS_ON_BOTH inline float log_of(float x) {
  const auto bits = __builtin_bit_cast(std::int32_t, x);
  // Infinities and NaN pass unchanged, so that broken values stay visible.
  if (!(x <= 3.402823466e+38F)) return x;
  const std::int32_t offset = bits - LogConstants::kSqrtHalfBits;
  const std::int32_t exponent = offset >> LogConstants::kMantissaBits;
  const std::int32_t mantissa =
      (offset & LogConstants::kMantissaMask) + LogConstants::kSqrtHalfBits;
  const float f = __builtin_bit_cast(float, mantissa) - 1.0F;
  const auto e = static_cast<float>(exponent);
  // A copy, because code for a GPU cannot read an array of the host.
  constexpr LogConstants::Polynomial kCopy = LogConstants::kPolynomial;
  float p = kCopy.factors[0];
  for (int i = 1; i < 9; ++i) p = p * f + kCopy.factors[i];
  const float square = f * f;
  float y = f * square * p;
  y = y + e * LogConstants::kLn2Low;
  y = y - 0.5F * square;
  return (f + y) + e * LogConstants::kLn2High;
}

[[maybe_unused]] XTTS_ON_BOTH inline float compress_one(const Compression& how, float x) {
  if (how.has_log) {
    // This form keeps a NaN a NaN.
    if (how.floor_mode == Compression::Floor::kAdd) {
      x = x + how.floor;
    } else {
      x = how.floor > x ? how.floor : x;
    }
    x = log_of(x) * how.log_scale;
  }
  return how.has_affine ? (x - how.offset) / how.scale : x;
}

[[maybe_unused]] XTTS_ON_BOTH inline float spectrum_value(float power, SpectrumOp op, float floor) {
  if (op == SpectrumOp::kPower) return power;
  return __builtin_sqrtf(op == SpectrumOp::kRootPlus ? power + floor : power);
}

// Two running sums, over even and odd places. With one sum, each addition would wait for the last,
// in every version.
[[maybe_unused]] XTTS_ON_BOTH inline float dot(const float* values, const float* weights,
                                               std::size_t count) {
  float even = 0.0F;
  float odd = 0.0F;
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    even = even + values[i] * weights[i];
    odd = odd + values[i + 1] * weights[i + 1];
  }
  if (count % 2 != 0) even = even + values[count - 1] * weights[count - 1];
  return even + odd;
}

// The two ends, which belong to no pair: X[0] and X[half] are real.
template <typename Real>
XTTS_ON_BOTH inline void unpack_ends(const Real* z, std::size_t half, SpectrumOp op, float floor,
                                     float* row) {
  const Real first = 2 * (z[0] + z[1]);
  const Real last = 2 * (z[0] - z[1]);
  row[0] = spectrum_value(static_cast<float>(first * first), op, floor);
  row[half] = spectrum_value(static_cast<float>(last * last), op, floor);
}

// Unpacks the bins k and half - k. If both are the same bin, the second value stays, here and in
// the SIMD kernels.
template <typename Real>
XTTS_ON_BOTH inline void unpack_pair(const Real* z, const UnpackTable<Real>& table, std::size_t k,
                                     SpectrumOp op, float floor, float* row) {
  const Real* front = z + 2 * k;
  const Real* back = z + 2 * (table.half - k);
  const Real sum_re = front[0] + back[0];
  const Real sum_im = front[1] - back[1];
  const Real difference_re = front[0] - back[0];
  const Real difference_im = front[1] + back[1];
  const Real sine = table.sines[k - 1];
  const Real cosine = table.cosines[k - 1];
  const Real turned_re = difference_im * cosine - difference_re * sine;
  const Real turned_im = difference_re * cosine + difference_im * sine;  // negated
  const Real near_re = sum_re + turned_re;
  const Real near_im = sum_im - turned_im;
  const Real far_re = sum_re - turned_re;
  const Real far_im = sum_im + turned_im;
  row[k] = spectrum_value(static_cast<float>(near_re * near_re + near_im * near_im), op, floor);
  row[table.half - k] =
      spectrum_value(static_cast<float>(far_re * far_re + far_im * far_im), op, floor);
}

}  // namespace
}  // namespace xtts::dsp
