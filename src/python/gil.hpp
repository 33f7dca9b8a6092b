// Letting go of the GIL, so that no thread is outside of it when the interpreter ends: until
// Python 3.14 a daemon thread that comes back then is unwound by force, which C++ answers with
// terminate(). package's atexit calls stay_inside() and waits until nobody is outside; from then on
// nobody leaves. All of it under the GIL.
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

  // Any thread may ask.
  [[nodiscard]] static bool stays_inside() noexcept { return must_stay_inside; }
  // In a forked child, which has none of the parent's other threads.
  static void forget_others() noexcept { outside_count = 0; }
  static void stay_inside() noexcept { must_stay_inside = true; }
  [[nodiscard]] static std::uint32_t count_outside() noexcept { return outside_count; }

 private:
  static inline std::atomic<bool> must_stay_inside = false;
  static inline std::uint32_t outside_count = 0;
  PyThreadState* state_ = nullptr;
};

// While the GIL is let go.
template <typename Call>
[[nodiscard]] auto without_gil(Call call) {
  const GilRelease released;
  return call();
}

}  // namespace xtts::python
