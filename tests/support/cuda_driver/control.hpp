// The checks that a control call makes first, as entry points do (entry_points.hpp).
#pragma once

#include <mutex>

#include "support/cuda_driver/fork_watch.hpp"
#include "support/cuda_driver/lifetime.hpp"

namespace xtts::testing::fake_cuda {

// Runs a control call; `body` takes the FakeDriver and the lock. Returns false where a check has
// refused it; the fault is noted then.
template <typename Body>
bool control(const char* name, Body body) {
  if (is_driver_gone() || is_call_of_child(name)) return false;
  std::unique_lock lock(driver_mutex());
  FakeDriver& now = driver();
  now.call_name = name;
  try {
    body(now, lock);
    return true;
  } catch (const Refusal&) {
    return false;
  }
}

}  // namespace xtts::testing::fake_cuda
