// The parts of the module `_builder`, which gives Python the tools' code.
#pragma once

#include <nanobind/nanobind.h>

namespace xtts::python {

void bind_build(nanobind::module_& module);
void bind_column(nanobind::module_& module);
// Import `_core` first: the arrays are its Memory.
void bind_runtime(nanobind::module_& module);
void bind_recipe(nanobind::module_& module);

}  // namespace xtts::python
