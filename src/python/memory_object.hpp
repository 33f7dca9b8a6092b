// Memory: a piece of read-only memory for Python, with its device and its owner. Where the host can
// read it, NumPy arrays have it as their base, by the buffer protocol. DLPack capsules name its
// device and keep its owner (dlpack.hpp). Immutable. Any thread that has the GIL may drop it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <span>

#include "xtts/device_id.hpp"

namespace xtts::python {

struct Memory {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  DeviceId device = {};
};

template <typename T>
[[nodiscard]] Memory memory_of(std::span<const T> values, std::shared_ptr<const void> owner,
                               const DeviceId& device = {}) {
  return {std::as_bytes(values), std::move(owner), device};
}

void bind_memory(nanobind::module_& module);

}  // namespace xtts::python
