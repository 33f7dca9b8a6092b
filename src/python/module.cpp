// xtts_precompute._core: include/xtts for the Python files of the package, which say what it all
// means. Threads: what waits, reads or copies does so without the GIL.
#include <nanobind/nanobind.h>

#include "python/bindings.hpp"
#include "python/dlpack.hpp"
#include "python/errors.hpp"
#include "python/fork.hpp"
#include "python/gil.hpp"
#include "python/memory.hpp"

NB_MODULE(_core, module) {
  using namespace xtts::python;
  // Arrays in a module's globals live until the process ends; that is no leak worth a line.
  nanobind::set_leak_warnings(false);
  count_forks();
  module.doc() = "The compiled part of xtts_precompute. Use xtts_precompute itself.";
  module.def("fork_count", fork_count,
             "How many forks lie between this process and its ancestors.");
  module.def("stay_inside", GilRelease::stay_inside, "From now on no thread lets go of the GIL.");
  module.def("count_outside", GilRelease::count_outside, "Threads that have let go of the GIL.");
  bind_errors();
  bind_memory(module);
  bind_dlpack(module);
  bind_cache(module);
  bind_batch(module);
  bind_reader(module);
  bind_order(module);
}
