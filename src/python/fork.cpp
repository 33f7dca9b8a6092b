#include "python/fork.hpp"

#include <pthread.h>

#include <atomic>

#include "python/gil.hpp"

namespace xtts::python {
namespace {

std::atomic<std::uint32_t> forks = 0;

}  // namespace

std::uint32_t fork_count() noexcept {
  return forks.load(std::memory_order_relaxed);
}

void count_forks() {
  // Where memory is lacking for the handler, forks are not counted. Then a child may wait for a
  // lock that its parent holds.
  static const int installed = ::pthread_atfork(nullptr, nullptr, [] {
    forks.fetch_add(1, std::memory_order_relaxed);
    GilRelease::forget_others();
  });
  static_cast<void>(installed);
}

}  // namespace xtts::python
