// Runs one function on several threads, including the calling one.
#pragma once

#include <cstddef>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace xtts {

// Runs `work`, which must not throw, on `thread_count` threads, and returns when all have
// finished. If the system grants fewer threads (a limit of processes or address space), those do
// the work; the calling thread always takes part. Returns the number of threads.
template <typename Work>
std::size_t run_on_threads(std::size_t thread_count, Work work) noexcept {
  std::vector<std::jthread> helpers;
  try {
    if (thread_count > 1) helpers.reserve(thread_count - 1);
    while (helpers.size() + 1 < thread_count) helpers.emplace_back([&work] { work(); });
  } catch (const std::system_error&) {  // no further thread
  } catch (const std::bad_alloc&) {     // no memory to note one
  }
  work();
  return helpers.size() + 1;  // the helpers are joined after this
}

}  // namespace xtts
