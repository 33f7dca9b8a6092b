#include "base/fork_count.hpp"

#include <pthread.h>

#include <atomic>

namespace xtts {
namespace {

std::atomic<std::uint32_t> forks = 0;

bool watch() noexcept {
  // Fails only for lack of memory at the start; then forks go unnoticed.
  return ::pthread_atfork(nullptr, nullptr,
                          [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;
}

}  // namespace

std::uint32_t fork_count() noexcept {
  [[maybe_unused]] static const bool is_watched = watch();
  return forks.load(std::memory_order_relaxed);
}

}  // namespace xtts
