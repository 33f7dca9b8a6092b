// Cufft: NVIDIA's FFT library, opened at run time. FftPlan: a batch of forward complex transforms
// of one size, unscaled, in place.
//
// Cufft: any number of threads. A plan takes work from one thread at a time. Failures: kUnsupported
// (no library), kResource (a call that the library refused), and Context's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "cuda/context.hpp"
#include "dsp_cuda/cufft_calls.hpp"
#include "xtts/status.hpp"

namespace xtts::dsp_cuda {

class Cufft {
 public:
  // Opens the library at the first call. Later calls return the same Cufft, or try again after a
  // failure.
  [[nodiscard]] static Result<const Cufft*> open();

  [[nodiscard]] const CufftCalls& calls() const noexcept { return calls_; }
  // "cuFFT 12.0.0": its bits may change with each version.
  [[nodiscard]] std::string version_text() const;
  // Turns a call's result into a Status. `what` says what was tried.
  [[nodiscard]] static Status check(FftResult result, std::string_view what);

 private:
  CufftCalls calls_;
  int version_ = 0;
};

class FftPlan {
 public:
  struct Shape {
    std::size_t size = 0;   // complex numbers of a transform
    std::size_t batch = 0;  // transforms, end to end
    bool is_double = true;
  };
  // All of its work goes to `stream`, which must live longer.
  [[nodiscard]] static Result<FftPlan> create(std::shared_ptr<const cuda::Context> context,
                                              const Shape& shape, cuda::StreamHandle stream);
  ~FftPlan();
  FftPlan(FftPlan&& other) noexcept;
  FftPlan& operator=(FftPlan&& other) noexcept;

  // Puts the transforms of `data` on the stream.
  [[nodiscard]] Status run(cuda::DeviceAddress data) const;
  // Never gives the plan back: work that could not be waited for may still use its memory.
  void abandon() noexcept { is_there_ = false; }

 private:
  FftPlan(std::shared_ptr<const cuda::Context> context, const Cufft* library, FftHandle handle,
          bool is_double) noexcept
      : context_(std::move(context)),
        library_(library),
        handle_(handle),
        is_double_(is_double),
        is_there_(true) {}

  std::shared_ptr<const cuda::Context> context_;
  const Cufft* library_ = nullptr;
  FftHandle handle_ = 0;  // 0 may be a plan's handle
  bool is_double_ = true;
  bool is_there_ = false;
};

}  // namespace xtts::dsp_cuda
