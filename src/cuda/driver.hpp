// Driver: NVIDIA's driver library, opened at run time. One for the process.
//
// Any number of threads. Failures: kUnsupported (no driver, one that is too old, no device, a
// forked child), kResource (a call that the driver refused).
#pragma once

#include <string>
#include <string_view>

#include "cuda/driver_calls.hpp"
#include "xtts/status.hpp"

namespace xtts::cuda {

class Driver {
 public:
  // Opens the library at the first call. Later calls return the same Driver, or try again after a
  // failure. kUnsupported in a child that was forked after the driver was opened.
  [[nodiscard]] static Result<const Driver*> open();

  [[nodiscard]] const DriverCalls& calls() const noexcept { return calls_; }
  // 13000: CUDA 13.0.
  [[nodiscard]] int version() const noexcept { return version_; }
  [[nodiscard]] int device_count() const noexcept { return device_count_; }

  // Turns a call's result into a Status. `what` says what was tried: "allocating 8 MiB on cuda:0".
  [[nodiscard]] Status check(CallResult result, std::string_view what) const;
  // True in the process that opened the driver. In a forked child no call may be made.
  [[nodiscard]] bool may_be_called() const noexcept;

 private:
  [[nodiscard]] Status load_and_start();
  [[nodiscard]] Status start();

  DriverCalls calls_;
  int version_ = 0;
  int device_count_ = 0;
  std::uint32_t forks_ = 0;  // when the driver was opened
};

}  // namespace xtts::cuda
