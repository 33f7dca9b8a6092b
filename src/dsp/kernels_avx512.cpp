// Compiled with -mavx512f -mavx512dq -mavx512vl -mavx512bw (see CMakeLists.txt). Nothing here may
// run before find_kernels() has checked the processor.
#include "dsp/kernels.hpp"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "dsp/kernels_vector.hpp"

namespace xtts::dsp {
namespace {

constexpr std::uint8_t kNaturalOrder[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

struct Wide {
  using Floats = __m512;
  typedef std::int32_t Integers __attribute__((vector_size(64)));
};

struct DoubleLanes {
  using Vector = __m512d;
  using Narrow = __m512;
  static constexpr std::size_t kLanes = 8;

  static Vector load(const double* p) { return _mm512_loadu_pd(p); }
  static Vector load_floats(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
  static void split(const double* z, Vector& re, Vector& im) {
    const Vector low = load(z);
    const Vector high = load(z + 8);
    re = _mm512_permutex2var_pd(low, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), high);
    im = _mm512_permutex2var_pd(low, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), high);
  }
  static void split_reversed(const double* z, Vector& re, Vector& im) {
    const Vector low = load(z - 14);
    const Vector high = load(z - 6);
    re = _mm512_permutex2var_pd(low, _mm512_setr_epi64(14, 12, 10, 8, 6, 4, 2, 0), high);
    im = _mm512_permutex2var_pd(low, _mm512_setr_epi64(15, 13, 11, 9, 7, 5, 3, 1), high);
  }
  static Narrow narrow(Vector near, Vector far) {
    const __m512 front = _mm512_castps256_ps512(_mm512_cvtpd_ps(near));
    return _mm512_insertf32x8(front, _mm512_cvtpd_ps(far), 1);
  }
  static Narrow add(Narrow v, float x) { return v + x; }
  static Narrow root(Narrow v) { return _mm512_sqrt_ps(v); }
  static void store(float* near, float* far, Narrow v) {
    const __m256i order = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    _mm256_storeu_ps(near, _mm512_castps512_ps256(v));
    _mm256_storeu_ps(far - 7, _mm256_permutevar8x32_ps(_mm512_extractf32x8_ps(v, 1), order));
  }
};

struct FloatLanes {
  using Vector = __m512;
  struct Narrow {
    Vector near, far;
  };
  static constexpr std::size_t kLanes = 16;

  static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  static Vector load_floats(const float* p) { return load(p); }
  static __m512i every_second(int first, int step) {
    const Wide::Integers count = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return reinterpret_cast<__m512i>(count * step + first);
  }
  static void split(const float* z, Vector& re, Vector& im) {
    const Vector low = load(z);
    const Vector high = load(z + 16);
    re = _mm512_permutex2var_ps(low, every_second(0, 2), high);
    im = _mm512_permutex2var_ps(low, every_second(1, 2), high);
  }
  static void split_reversed(const float* z, Vector& re, Vector& im) {
    const Vector low = load(z - 30);
    const Vector high = load(z - 14);
    re = _mm512_permutex2var_ps(low, every_second(30, -2), high);
    im = _mm512_permutex2var_ps(low, every_second(31, -2), high);
  }
  static Narrow narrow(Vector near, Vector far) { return {near, far}; }
  static Narrow add(Narrow v, float x) { return {v.near + x, v.far + x}; }
  static Narrow root(Narrow v) { return {_mm512_sqrt_ps(v.near), _mm512_sqrt_ps(v.far)}; }
  static void store(float* near, float* far, Narrow v) {
    _mm512_storeu_ps(near, v.near);
    _mm512_storeu_ps(far - 15, _mm512_permutexvar_ps(every_second(15, -1), v.far));
  }
};

constexpr Kernels kAvx512 = {
    .in_double = {DoubleLanes::kLanes, kNaturalOrder, apply_window<DoubleLanes, double>,
                  spectrum<DoubleLanes, double>},
    .in_float = {FloatLanes::kLanes, kNaturalOrder, apply_window<FloatLanes, float>,
                 spectrum<FloatLanes, float>},
    .block = {mel, compress<Wide>, to_frames},
};

}  // namespace

const Kernels* avx512_kernels() noexcept {
  return &kAvx512;
}

}  // namespace xtts::dsp

#else
namespace xtts::dsp {
const Kernels* avx512_kernels() noexcept {
  return nullptr;
}
}  // namespace xtts::dsp
#endif
