// The calls of libcuda.so.1, declared from the list that the product uses, so that a definition
// with other parameters does not compile.
#pragma once

#include <mutex>

#include "cuda/driver_calls.hpp"
#include "support/cuda_driver/fork_watch.hpp"
#include "support/cuda_driver/lifetime.hpp"

namespace xtts::testing::fake_cuda {

using namespace cuda;  // the types in the list of calls

extern "C" {
#define XTTS_DECLARE(name, symbol, parameters) XTTS_FAKE_CUDA_API CallResult symbol parameters;
XTTS_CUDA_DRIVER_CALLS(XTTS_DECLARE)
XTTS_CUDA_NEWER_DRIVER_CALLS(XTTS_DECLARE)
#undef XTTS_DECLARE
}

// Makes one call: refuses it in a forked child, fails it where the test has ordered that, and runs
// `body`, which takes the FakeDriver and the lock. `name` is a literal, without a suffix.
template <typename Body>
CallResult make_call(const char* name, bool needs_start, Body body) {
  if (is_driver_gone()) return kDeinitialized;
  if (is_call_of_child(name)) return kNotInitialized;
  std::unique_lock lock(driver_mutex());
  FakeDriver& now = driver();
  if (const CallResult failure = now.count_call(name); failure != kSuccess) return failure;
  try {
    if (needs_start && !now.is_started) now.refuse(kNotInitialized, "comes before cuInit()");
    body(now, lock);
    return kSuccess;
  } catch (const Refusal& refusal) {
    return refusal.result;
  }
}

template <typename Body>
CallResult make_call(const char* name, Body body) {
  return make_call(name, true, body);
}

template <typename Handle>
Handle as_handle(std::uint64_t value) {
  return reinterpret_cast<Handle>(value);
}

}  // namespace xtts::testing::fake_cuda
