#include "dsp/fft.hpp"

#include <fftw3.h>

#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

namespace xtts::dsp {
namespace {

// "Beyond-guru" flag of fftw3.h, accepted by every FFTW 3 though absent from its manual.
constexpr unsigned kNoSimd = 1U << 17U;

std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

// The same few calls of the two FFTW libraries under one name.
template <typename Real>
struct Fftw;

template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  static Plan plan(int size, double* in, double* out, unsigned flags) {
    return fftw_plan_dft_1d(size, reinterpret_cast<fftw_complex*>(in),
                            reinterpret_cast<fftw_complex*>(out), FFTW_FORWARD, flags);
  }
  static void execute(Plan plan) { fftw_execute(plan); }
  static void destroy(Plan plan) { fftw_destroy_plan(plan); }
};

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  static Plan plan(int size, float* in, float* out, unsigned flags) {
    return fftwf_plan_dft_1d(size, reinterpret_cast<fftwf_complex*>(in),
                             reinterpret_cast<fftwf_complex*>(out), FFTW_FORWARD, flags);
  }
  static void execute(Plan plan) { fftwf_execute(plan); }
  static void destroy(Plan plan) { fftwf_destroy_plan(plan); }
};

template <typename Real>
struct DestroyPlan {
  void operator()(std::remove_pointer_t<typename Fftw<Real>::Plan>* plan) const noexcept {
    const std::lock_guard lock(planner_mutex());
    Fftw<Real>::destroy(plan);
  }
};

}  // namespace

template <typename Real>
struct ComplexFft<Real>::Impl {
  AlignedBuffer<Real> in;
  AlignedBuffer<Real> out;
  std::unique_ptr<std::remove_pointer_t<typename Fftw<Real>::Plan>, DestroyPlan<Real>> plan;
};

template <typename Real>
Result<ComplexFft<Real>> ComplexFft<Real>::create(std::size_t size, FftCodelets codelets) {
  auto impl = std::make_unique<Impl>();
  impl->in = AlignedBuffer<Real>(2 * size);
  impl->out = AlignedBuffer<Real>(2 * size);
  const unsigned flags =
      FFTW_ESTIMATE | FFTW_DESTROY_INPUT | (codelets == FftCodelets::kPortable ? kNoSimd : 0U);
  {
    const std::lock_guard lock(planner_mutex());
    impl->plan.reset(
        Fftw<Real>::plan(static_cast<int>(size), impl->in.data(), impl->out.data(), flags));
  }
  if (!impl->plan) {
    return Status(StatusCode::kResource, "FFTW made no plan for a complex transform of " +
                                             std::to_string(size) + " points");
  }
  return ComplexFft(std::move(impl));
}

template <typename Real>
ComplexFft<Real>::ComplexFft(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
template <typename Real>
ComplexFft<Real>::~ComplexFft() = default;
template <typename Real>
ComplexFft<Real>::ComplexFft(ComplexFft&&) noexcept = default;
template <typename Real>
ComplexFft<Real>& ComplexFft<Real>::operator=(ComplexFft&&) noexcept = default;

template <typename Real>
Real* ComplexFft<Real>::input() noexcept {
  return impl_->in.data();
}

template <typename Real>
const Real* ComplexFft<Real>::output() noexcept {
  return impl_->out.data();
}

template <typename Real>
void ComplexFft<Real>::execute() noexcept {
  Fftw<Real>::execute(impl_->plan.get());
}

template class ComplexFft<float>;
template class ComplexFft<double>;

std::string_view fft_library_version() noexcept {
  return fftw_version;
}

}  // namespace xtts::dsp
