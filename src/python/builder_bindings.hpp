// The parts of the module `_builder`, where the tools' code meets Python.
#pragma once

#include <nanobind/nanobind.h>

namespace xtts::python {

void bind_build(nanobind::module_& module);
void bind_column(nanobind::module_& module);
// Arrays in it are _core's Memory: that module is to be imported before.
void bind_runtime(nanobind::module_& module);
void bind_recipe(nanobind::module_& module);

}  // namespace xtts::python
