// HandOver: names an order between threads that a library keeps out of the thread sanitizer's
// sight: what happened before an end() happens before every later begin(). Only for orders that the
// library promises. Nothing where XTTS_THREAD_SANITIZER is not defined. Synchronised inside.
#pragma once

#if defined(XTTS_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace xtts {

class HandOver {
 public:
#if defined(XTTS_THREAD_SANITIZER)
  void end() noexcept {
    __tsan_release(&place_);
  }
  void begin() noexcept {
    __tsan_acquire(&place_);
  }

 private:
  char place_ = 0;
#else
  void end() noexcept {}
  void begin() noexcept {}
#endif
};

}  // namespace xtts
