// How often this process has come into being by fork(), counted where the child begins. What was
// made before a fork belongs to the parent: its threads are not here, and its mutexes may be held
// by them. Any thread; never fails.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace xtts::python {

[[nodiscard]] std::uint32_t fork_count() noexcept;
void count_forks();  // from now on; once

// An object that is destroyed in the process that made it, and left alone in its children.
template <typename T>
[[nodiscard]] std::shared_ptr<T> make_process_bound(T&& value) {
  return std::shared_ptr<T>(new T(std::move(value)), [made_at = fork_count()](T* object) {
    if (made_at == fork_count()) delete object;
  });
}

}  // namespace xtts::python
