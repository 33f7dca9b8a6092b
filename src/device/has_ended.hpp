// has_ended(): whether work of a device is over, for certain.
#pragma once

namespace xtts::device {

// Waits for `work`, which has a wait() that returns a Status. A wait that fails says nothing about
// the work, so there is a second one. False: the work may go on for ever.
template <typename Work>
[[nodiscard]] bool has_ended(const Work& work) noexcept {
  for (int i = 0; i < 2; ++i) {
    try {
      if (work.wait().ok()) return true;
    } catch (...) {  // no memory for the words of a failure
    }
  }
  return false;
}

}  // namespace xtts::device
