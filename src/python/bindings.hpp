// The parts of the module `_core`, in the order in which they are bound.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "xtts/clip_source.hpp"
#include "xtts/reader.hpp"

namespace xtts::python {

// The content of Python's Cache. Readers share it.
struct CacheHandle {
  std::shared_ptr<const Cache> cache;
};

// Clips that are computed while they are read. _builder's Runtime gives it.
struct SourceHandle {
  std::shared_ptr<const ClipSource> source;
};

void bind_cache(nanobind::module_& module);
void bind_batch(nanobind::module_& module);
void bind_reader(nanobind::module_& module);
void bind_order(nanobind::module_& module);
void bind_cycle(nanobind::module_& module);
void bind_gpu(nanobind::module_& module);

}  // namespace xtts::python
