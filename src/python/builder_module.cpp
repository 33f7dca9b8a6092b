// xtts_precompute._builder gives the package's Python files include/xtts/builder.hpp. It is a
// module of its own because it brings FFmpeg and more: it is loaded when something is built.
#include <nanobind/nanobind.h>

#include "python/beside.hpp"
#include "python/builder_bindings.hpp"
#include "python/errors.hpp"
#include "python/fork.hpp"
#include "python/gil.hpp"

NB_MODULE(_builder, module) {
  using namespace xtts::python;
  nanobind::set_leak_warnings(false);
  count_forks();
  module.doc() = "The compiled part of xtts_precompute that builds. Use xtts_precompute itself.";
  module.def("stop_all", WorkBesideGil::stop_all, "Tells all work to stop, for good.");
  module.def("stay_inside", GilRelease::stay_inside, "From now on no thread releases the GIL.");
  module.def("count_outside", GilRelease::count_outside,
             "The number of threads that have released the GIL.");
  module.def("running_count", WorkBesideGil::running_count,
             "The number of calls that have not ended.");
  bind_errors();
  bind_build(module);
  bind_column(module);
  bind_runtime(module);
  bind_recipe(module);
}
