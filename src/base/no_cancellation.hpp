// While a NoCancellation lives, its thread is not cancelled (pthread_cancel); a request that comes
// meanwhile waits. Cancellation unwinds a thread by force, through destructors and catch blocks
// that may not throw, and this ends the process. So each of our calls that may wait, read or close
// holds one. It never fails.
#pragma once

#include <pthread.h>

namespace xtts {

class NoCancellation {
 public:
  NoCancellation() noexcept { (void)::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { (void)::pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = 0;
};

}  // namespace xtts
