// fork_count() tells how many forks lie between this process and the first one. The child counts
// when it begins. An object that was made before a fork belongs to the parent: its threads are not
// here, and they may hold its mutexes. Any thread. Never fails.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace xtts::python {

[[nodiscard]] std::uint32_t fork_count() noexcept;
void count_forks();  // begins to count; later calls change nothing

// Makes an object that only the process that made it destroys. Its children leave it alone.
template <typename T>
[[nodiscard]] std::shared_ptr<T> make_process_bound(T&& value) {
  return std::shared_ptr<T>(new T(std::move(value)), [made_at = fork_count()](T* object) {
    if (made_at == fork_count()) delete object;
  });
}

}  // namespace xtts::python
