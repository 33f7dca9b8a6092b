// Runs one function on several threads, the calling one among them.
#pragma once

#include <cstddef>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace xtts {

// Runs `work`, which must not throw, on `thread_count` threads, and returns when all have come
// back. Where the system gives fewer threads (a limit of processes, of address space), those do it:
// the calling thread always does. Returns how many there were.
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
  return helpers.size() + 1;  // they are joined behind this
}

}  // namespace xtts
