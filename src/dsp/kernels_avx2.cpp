// Compiled with -mavx2 (see CMakeLists.txt). Nothing here may run before find_kernels() has checked
// the processor.
#include "dsp/kernels.hpp"

#if defined(__AVX2__)
#include "dsp/kernels_vector.hpp"

namespace xtts::dsp {
namespace {

// Unpacking is cheap within 128-bit halves, but not across them. So bins keep the order of the
// halves, and the tables are laid out to match.
constexpr std::uint8_t kDoubleOrder[] = {0, 2, 1, 3};
constexpr std::uint8_t kFloatOrder[] = {0, 1, 4, 5, 2, 3, 6, 7};

struct DoubleLanes {
  using Vector = __m256d;
  using Narrow = __m256;
  static constexpr std::size_t kLanes = 4;

  static Vector load(const double* p) { return _mm256_loadu_pd(p); }
  static Vector load_floats(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
  static void split(const double* z, Vector& re, Vector& im) {
    const Vector low = load(z);
    const Vector high = load(z + 4);
    re = _mm256_unpacklo_pd(low, high);
    im = _mm256_unpackhi_pd(low, high);
  }
  static void split_reversed(const double* z, Vector& re, Vector& im) {
    const Vector low = load(z - 6);
    const Vector high = load(z - 2);
    const Vector near = _mm256_permute2f128_pd(high, high, 0x01);
    const Vector far = _mm256_permute2f128_pd(low, low, 0x01);
    re = _mm256_unpacklo_pd(near, far);
    im = _mm256_unpackhi_pd(near, far);
  }
  static Narrow narrow(Vector near, Vector far) {
    return _mm256_set_m128(_mm256_cvtpd_ps(far), _mm256_cvtpd_ps(near));
  }
  static Narrow add(Narrow v, float x) { return v + x; }
  static Narrow root(Narrow v) { return _mm256_sqrt_ps(v); }
  static void store(float* near, float* far, Narrow v) {
    const Narrow natural = _mm256_permutevar_ps(v, _mm256_setr_epi32(0, 2, 1, 3, 3, 1, 2, 0));
    _mm_storeu_ps(near, _mm256_castps256_ps128(natural));
    _mm_storeu_ps(far - 3, _mm256_extractf128_ps(natural, 1));
  }
};

struct FloatLanes {
  using Vector = __m256;
  struct Narrow {
    Vector near, far;
  };
  static constexpr std::size_t kLanes = 8;

  static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  static Vector load_floats(const float* p) { return load(p); }
  static void split(const float* z, Vector& re, Vector& im) {
    const Vector low = load(z);
    const Vector high = load(z + 8);
    re = _mm256_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0));
    im = _mm256_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1));
  }
  static void split_reversed(const float* z, Vector& re, Vector& im) {
    const Vector low = load(z - 14);
    const Vector high = load(z - 6);
    const Vector near = _mm256_permute2f128_ps(high, high, 0x01);
    const Vector far = _mm256_permute2f128_ps(low, low, 0x01);
    re = _mm256_shuffle_ps(near, far, _MM_SHUFFLE(0, 2, 0, 2));
    im = _mm256_shuffle_ps(near, far, _MM_SHUFFLE(1, 3, 1, 3));
  }
  static Narrow narrow(Vector near, Vector far) { return {near, far}; }
  static Narrow add(Narrow v, float x) { return {v.near + x, v.far + x}; }
  static Narrow root(Narrow v) { return {_mm256_sqrt_ps(v.near), _mm256_sqrt_ps(v.far)}; }
  static void store(float* near, float* far, Narrow v) {
    const __m256d front = _mm256_castps_pd(v.near);
    const __m256d back = _mm256_castps_pd(v.far);
    const Vector forward = _mm256_castpd_ps(_mm256_permute4x64_pd(front, _MM_SHUFFLE(3, 1, 2, 0)));
    const Vector pairs = _mm256_castpd_ps(_mm256_permute4x64_pd(back, _MM_SHUFFLE(0, 2, 1, 3)));
    _mm256_storeu_ps(near, forward);
    _mm256_storeu_ps(far - 7, _mm256_permute_ps(pairs, _MM_SHUFFLE(2, 3, 0, 1)));
  }
};

struct Wide {
  using Floats = __m256;
  typedef std::int32_t Integers __attribute__((vector_size(32)));
};

constexpr Kernels kAvx2 = {
    .in_double = {DoubleLanes::kLanes, kDoubleOrder, apply_window<DoubleLanes, double>,
                  spectrum<DoubleLanes, double>},
    .in_float = {FloatLanes::kLanes, kFloatOrder, apply_window<FloatLanes, float>,
                 spectrum<FloatLanes, float>},
    .block = {mel, compress<Wide>, to_frames},
};

}  // namespace

const Kernels* avx2_kernels() noexcept {
  return &kAvx2;
}

}  // namespace xtts::dsp

#else
namespace xtts::dsp {
const Kernels* avx2_kernels() noexcept {
  return nullptr;
}
}  // namespace xtts::dsp
#endif
