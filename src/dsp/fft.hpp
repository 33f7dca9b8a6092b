// ComplexFft: the forward complex transform of a fixed size by FFTW, out of place, unscaled:
//   out[k] = sum over n of in[n] exp(-2 pi i k n / size),  complex numbers as (re, im) pairs.
// The input is destroyed. One thread at a time; making and destroying one is serialised inside,
// because FFTW's planner is not thread-safe, and those of one size share a plan. Plans are
// FFTW_ESTIMATE: measured plans differ from run to run, and with them the last bits. kResource when
// FFTW makes no plan, or there is no memory for one.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "dsp/aligned_buffer.hpp"
#include "xtts/status.hpp"

namespace xtts::dsp {

// kPortable keeps FFTW off its SIMD codelets, so that every x86-64 processor gives the same bits.
enum class FftCodelets { kFastest, kPortable };

template <typename Real>
class ComplexFft {
 public:
  [[nodiscard]] static Result<ComplexFft> create(std::size_t size, FftCodelets codelets);
  ~ComplexFft();
  ComplexFft(ComplexFft&&) noexcept;
  ComplexFft& operator=(ComplexFft&&) noexcept;

  [[nodiscard]] Real* input() noexcept;         // [2 * size]
  [[nodiscard]] const Real* output() noexcept;  // [2 * size], valid until the next execute()
  void execute() noexcept;

 private:
  struct Impl;
  explicit ComplexFft(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

extern template class ComplexFft<float>;
extern template class ComplexFft<double>;

[[nodiscard]] std::string_view fft_library_version() noexcept;

}  // namespace xtts::dsp
