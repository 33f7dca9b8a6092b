// Memory: a piece of read-only memory for Python, and what keeps it. NumPy arrays have it as their
// base (buffer protocol); DLPack capsules keep its owner (dlpack.hpp). Immutable; may be
// dropped in any thread that has the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <span>

namespace xtts::python {

struct Memory {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

template <typename T>
[[nodiscard]] Memory memory_of(std::span<const T> values, std::shared_ptr<const void> owner) {
  return {std::as_bytes(values), std::move(owner)};
}

void bind_memory(nanobind::module_& module);

}  // namespace xtts::python
