#include "base/memory_reserve.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>

namespace xtts {
namespace {

// Larger than what malloc takes from the system at a time (132 KiB).
constexpr std::size_t kBlockBytes = std::size_t{512} << 10U;

std::atomic<void*> for_going_on{nullptr};
std::array<std::atomic<void*>, 3> for_unwinding{};
std::mutex mutex;  // of the numbers below
int living_count = 0;

void take(std::atomic<void*>& block) {
  std::free(block.exchange(std::malloc(kBlockBytes)));
}

bool give(std::atomic<void*>& block) {
  void* const memory = block.exchange(nullptr);
  std::free(memory);
  return memory != nullptr;
}

// Returns if it has freed memory and the allocation may be retried. The first failure may be in a
// destructor, so it gets memory and continues. Later failures throw where they can. A destructor
// during unwinding cannot throw, so it gets memory.
void on_no_memory() {
  if (give(for_going_on)) return;
  if (std::uncaught_exceptions() > 0) {
    for (auto& block : for_unwinding) {
      if (give(block)) return;
    }
  }
  throw std::bad_alloc();
}

}  // namespace

MemoryReserve::MemoryReserve() noexcept {
  const std::lock_guard lock(mutex);
  if (living_count++ > 0 || std::get_new_handler() != nullptr) return;
  take(for_going_on);
  for (auto& block : for_unwinding) take(block);
  std::set_new_handler(on_no_memory);
}

MemoryReserve::~MemoryReserve() {
  const std::lock_guard lock(mutex);
  if (--living_count > 0) return;
  if (std::get_new_handler() == on_no_memory) std::set_new_handler(nullptr);
  (void)give(for_going_on);
  for (auto& block : for_unwinding) (void)give(block);
}

}  // namespace xtts
