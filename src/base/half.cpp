#include "base/half.hpp"

#include <cassert>
#include <cstddef>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace xtts {
namespace {

#if defined(__x86_64__)

// The rounding mode is in the instruction, so the caller's MXCSR does not matter.
__attribute__((target("avx,f16c"))) std::size_t narrow_f16c(std::span<const float> in,
                                                            std::span<std::uint16_t> out) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= in.size(); i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(in.data() + i),
                                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out.data() + i), halves);
  }
  return i;
}

__attribute__((target("avx,f16c"))) std::size_t widen_f16c(std::span<const std::uint16_t> in,
                                                           std::span<float> out) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= in.size(); i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in.data() + i));
    _mm256_storeu_ps(out.data() + i, _mm256_cvtph_ps(halves));
  }
  return i;
}

// "avx" means that processor and system save the registers. clang 14 has no name for F16C, so the
// code tests its bit.
bool detect_f16c() noexcept {
  __builtin_cpu_init();
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  const bool known = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0;
  return __builtin_cpu_supports("avx") != 0 && known && (ecx & bit_F16C) != 0;
}

#else

std::size_t narrow_f16c(std::span<const float>, std::span<std::uint16_t>) noexcept {
  return 0;
}
std::size_t widen_f16c(std::span<const std::uint16_t>, std::span<float>) noexcept {
  return 0;
}
bool detect_f16c() noexcept {
  return false;
}

#endif

}  // namespace

bool has_f16c() noexcept {
  static const bool has = detect_f16c();
  return has;
}

// The vector form does whole groups of eight, the scalar one the rest.
void to_float16(std::span<const float> in, std::span<std::uint16_t> out, HalfPath path) noexcept {
  assert(in.size() == out.size());
  std::size_t i = path != HalfPath::kScalar && has_f16c() ? narrow_f16c(in, out) : 0;
  for (; i < in.size(); ++i) out[i] = to_float16(in[i]);
}

void from_float16(std::span<const std::uint16_t> in, std::span<float> out, HalfPath path) noexcept {
  assert(in.size() == out.size());
  std::size_t i = path != HalfPath::kScalar && has_f16c() ? widen_f16c(in, out) : 0;
  for (; i < in.size(); ++i) out[i] = from_float16(in[i]);
}

void to_bfloat16(std::span<const float> in, std::span<std::uint16_t> out) noexcept {
  assert(in.size() == out.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = to_bfloat16(in[i]);
}

void from_bfloat16(std::span<const std::uint16_t> in, std::span<float> out) noexcept {
  assert(in.size() == out.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = from_bfloat16(in[i]);
}

}  // namespace xtts
