// GilRelease releases the GIL, but not while the interpreter ends. Until Python 3.14, a daemon
// thread that takes the GIL again then is unwound by force, which C++ answers with terminate().
//
// So the package's atexit handler calls stay_inside(): from then on no thread releases the GIL.
// Then it waits until no thread is outside. All calls hold the GIL, except where said.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>

namespace xtts::python {

class GilRelease {
 public:
  GilRelease() noexcept {
    if (must_stay_inside) return;
    ++outside_count;
    state_ = PyEval_SaveThread();
  }
  ~GilRelease() {
    if (state_ == nullptr) return;
    PyEval_RestoreThread(state_);
    --outside_count;
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

  // Any thread may ask, with or without the GIL.
  [[nodiscard]] static bool stays_inside() noexcept { return must_stay_inside; }
  // Called in a forked child, which has none of the parent's other threads.
  static void forget_others() noexcept { outside_count = 0; }
  static void stay_inside() noexcept { must_stay_inside = true; }
  [[nodiscard]] static std::uint32_t count_outside() noexcept { return outside_count; }

 private:
  static inline std::atomic<bool> must_stay_inside = false;
  static inline std::uint32_t outside_count = 0;
  PyThreadState* state_ = nullptr;
};

// Calls without the GIL.
template <typename Call>
[[nodiscard]] auto without_gil(Call call) {
  const GilRelease released;
  return call();
}

}  // namespace xtts::python
