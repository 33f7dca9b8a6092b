#include "dsp/fft.hpp"

#include <fftw3.h>

#include <map>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::dsp {
namespace {

// "Beyond-guru" flag of fftw3.h, accepted by every FFTW 3 though absent from its manual.
constexpr unsigned kNoSimd = 1U << 17U;

// More memory than planning needs: estimated plans of the sizes that we use stay below 1 MiB.
constexpr std::size_t kPlannerBytes = std::size_t{4} << 20U;

// FFTW 3.3.10 ends the process if malloc fails while it plans (kernel/alloc.c asserts). So we first
// allocate as much memory as it needs, and free it.
bool has_room_to_plan() {
  void* volatile room =
      ::operator new(kPlannerBytes, std::nothrow);  // volatile: keeps the allocation
  const bool is_there = room != nullptr;
  ::operator delete(room);
  return is_there;
}

// Recursive, because a plan may be destroyed while its maker holds the mutex (no memory for the
// rest).
std::recursive_mutex& planner_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

// Gives the two FFTW libraries' few calls common names.
template <typename Real>
struct Fftw;

template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  static Plan plan(int size, double* in, double* out, unsigned flags) {
    return fftw_plan_dft_1d(size, reinterpret_cast<fftw_complex*>(in),
                            reinterpret_cast<fftw_complex*>(out), FFTW_FORWARD, flags);
  }
  static void execute(Plan plan, double* in, double* out) {
    fftw_execute_dft(plan, reinterpret_cast<fftw_complex*>(in),
                     reinterpret_cast<fftw_complex*>(out));
  }
  static void destroy(Plan plan) { fftw_destroy_plan(plan); }
};

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  static Plan plan(int size, float* in, float* out, unsigned flags) {
    return fftwf_plan_dft_1d(size, reinterpret_cast<fftwf_complex*>(in),
                             reinterpret_cast<fftwf_complex*>(out), FFTW_FORWARD, flags);
  }
  static void execute(Plan plan, float* in, float* out) {
    fftwf_execute_dft(plan, reinterpret_cast<fftwf_complex*>(in),
                      reinterpret_cast<fftwf_complex*>(out));
  }
  static void destroy(Plan plan) { fftwf_destroy_plan(plan); }
};

template <typename Real>
struct DestroyPlan {
  void operator()(std::remove_pointer_t<typename Fftw<Real>::Plan>* plan) const noexcept {
    const std::lock_guard lock(planner_mutex());
    Fftw<Real>::destroy(plan);
  }
};

template <typename Real>
using SharedPlan = std::shared_ptr<std::remove_pointer_t<typename Fftw<Real>::Plan>>;

// One plan serves all transforms of a kind. Running it is thread-safe on buffers of the alignment
// that it was made for, and all of ours are aligned alike. So a later thread does not need the
// planner while any transform of its kind lives.
template <typename Real>
Result<SharedPlan<Real>> shared_plan(std::size_t size, FftCodelets codelets, Real* in, Real* out) {
  using Plans = std::map<std::pair<std::size_t, FftCodelets>,
                         std::weak_ptr<std::remove_pointer_t<typename Fftw<Real>::Plan>>>;
  static Plans plans;  // guarded by planner_mutex()
  const std::lock_guard lock(planner_mutex());
  auto& known = plans[{size, codelets}];
  if (auto plan = known.lock()) return plan;
  if (!has_room_to_plan()) return Status(StatusCode::kResource, "planning an FFT: out of memory");
  const unsigned flags =
      FFTW_ESTIMATE | FFTW_DESTROY_INPUT | (codelets == FftCodelets::kPortable ? kNoSimd : 0U);
  const auto raw = Fftw<Real>::plan(static_cast<int>(size), in, out, flags);
  if (raw == nullptr) {
    return Status(StatusCode::kResource,
                  formatted("FFTW made no plan for a complex transform of {} points", size));
  }
  SharedPlan<Real> plan(raw, DestroyPlan<Real>());
  known = plan;
  return plan;
}

}  // namespace

template <typename Real>
struct ComplexFft<Real>::Impl {
  AlignedBuffer<Real> in;
  AlignedBuffer<Real> out;
  SharedPlan<Real> plan;
};

template <typename Real>
Result<ComplexFft<Real>> ComplexFft<Real>::create(std::size_t size, FftCodelets codelets) {
  auto impl = std::make_unique<Impl>();
  impl->in = AlignedBuffer<Real>(2 * size);
  impl->out = AlignedBuffer<Real>(2 * size);
  XTTS_ASSIGN(impl->plan, shared_plan<Real>(size, codelets, impl->in.data(), impl->out.data()));
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
  Fftw<Real>::execute(impl_->plan.get(), impl_->in.data(), impl_->out.data());
}

template class ComplexFft<float>;
template class ComplexFft<double>;

std::string_view fft_library_version() noexcept {
  return fftw_version;
}

}  // namespace xtts::dsp
