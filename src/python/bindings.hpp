// The parts of the module `_core`, which are bound in this order.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "xtts/reader.hpp"

namespace xtts::python {

// What Python's Cache holds; readers share it.
struct CacheHandle {
  std::shared_ptr<const Cache> cache;
};

void bind_cache(nanobind::module_& module);
void bind_batch(nanobind::module_& module);
void bind_reader(nanobind::module_& module);
void bind_order(nanobind::module_& module);

}  // namespace xtts::python
