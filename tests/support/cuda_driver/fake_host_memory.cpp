#include "support/cuda_driver/fake_host_memory.hpp"

#include <iterator>
#include <utility>

#include "support/cuda_driver/fake_driver.hpp"
#include "support/cuda_driver/words.hpp"

namespace xtts::testing::fake_cuda {

void HostMemory::lock(const std::shared_ptr<Context>& context, const std::byte* memory,
                      std::size_t size_bytes, bool is_portable) {
  const std::uint64_t begin = address_of(memory);
  for (const auto& [other_begin, other] : locked_) {
    if (overlaps(begin, begin + size_bytes, other_begin, other->end)) {
      driver_.refuse(kHostMemoryAlreadyLocked, other->name + " is page-locked already");
    }
  }
  auto made = std::make_shared<Registration>();
  made->name =
      "page-locked memory " + std::to_string(++locked_count_) + " (" + bytes_text(size_bytes) + ")";
  made->context = context;
  made->begin = begin;
  made->end = begin + size_bytes;
  made->is_portable = is_portable;
  locked_[begin] = made;
}

void HostMemory::unlock(const std::byte* memory) {
  const auto found = locked_.find(address_of(memory));
  if (found == locked_.end()) {
    driver_.refuse(kHostMemoryNotLocked,
                   hex(address_of(memory)) + " is not the beginning of page-locked memory");
  }
  const Registration& one = *found->second;
  for (const Trace& open : record_.find_open(one.begin, one.end, driver_.host_clock)) {
    driver_.fault(driver_.call_name + ": " + one.name +
                  " is unlocked, but the host has not waited for " + *open.name +
                  ", which uses it");
  }
  if (!is_mapped(memory, one.end - one.begin)) {
    driver_.fault(driver_.call_name + ": " + one.name + " was unmapped while it was page-locked");
  }
  locked_.erase(found);
}

void HostMemory::check_is_locked(const std::byte* memory, std::size_t size_bytes) {
  const ContextPointer now = driver_.current();
  std::uint64_t place = address_of(memory);
  const std::uint64_t end = place + size_bytes;
  while (place < end) {
    auto found = locked_.upper_bound(place);
    const bool is_first = found == locked_.begin();
    const Registration* const one = is_first ? nullptr : std::prev(found)->second.get();
    const bool is_locked =
        one != nullptr && one->end > place && (one->is_portable || one->context == now);
    if (!is_locked) {
      driver_.fault(driver_.call_name + ": " + bytes_text(size_bytes) + " of the host at " +
                    hex(address_of(memory)) + " are not page-locked from byte " +
                    std::to_string(place - address_of(memory)) + " on");
      return;
    }
    place = one->end;
  }
}

bool HostMemory::add_copy(HostCopy copy) {
  bool is_known = true;
  const std::uint64_t begin = address_of(copy.memory);
  for (HostCopy& other : copies_) {
    const std::uint64_t other_begin = address_of(other.memory);
    if (!overlaps(begin, begin + copy.size_bytes, other_begin, other_begin + other.size_bytes)) {
      continue;
    }
    if (other.is_to_host) is_known = false;
    if (other.is_to_host || copy.is_to_host) other.is_checked = copy.is_checked = false;
  }
  copies_.push_back(std::move(copy));
  return is_known;
}

// The host may write to a copy's memory once it knows that the copy is over, and not before. So
// the bytes must still be those of the copy at the moment when the host learns of its end.
void HostMemory::check_copies() {
  std::erase_if(copies_, [&](const HostCopy& copy) {
    if (!driver_.host_clock.covers(copy.task->stamp)) return false;
    if (!copy.is_checked || !copy.hash->has_value()) return true;
    const auto hash = hash_host(copy.memory, copy.size_bytes);
    if (!hash) {
      driver_.fault(*copy.task->name +
                    ": memory of the host was unmapped before the host waited for it");
    } else if (*hash != **copy.hash) {
      driver_.fault(*copy.task->name +
                    ": memory of the host was written to before the host waited for it");
    }
    return true;
  });
}

void HostMemory::forget(const Context& context) {
  std::erase_if(locked_, [&](const auto& one) { return one.second->context.get() == &context; });
}

}  // namespace xtts::testing::fake_cuda
