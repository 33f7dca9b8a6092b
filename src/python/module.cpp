// xtts_precompute._core gives the package's Python files include/xtts. Those files document it.
// Calls that wait, read or copy release the GIL.
#include <nanobind/nanobind.h>

#include "python/bindings.hpp"
#include "python/dlpack.hpp"
#include "python/errors.hpp"
#include "python/fork.hpp"
#include "python/gil.hpp"
#include "python/memory_object.hpp"

NB_MODULE(_core, module) {
  using namespace xtts::python;
  // Arrays in a module's globals live until the process ends. nanobind would report them as leaks.
  nanobind::set_leak_warnings(false);
  count_forks();
  module.doc() = "The compiled part of xtts_precompute. Use xtts_precompute itself.";
  module.def("fork_count", fork_count,
             "How many forks lie between the importing process and this one.");
  module.def("stay_inside", GilRelease::stay_inside, "From now on no thread releases the GIL.");
  module.def("count_outside", GilRelease::count_outside,
             "The number of threads that have released the GIL.");
  bind_errors();
  bind_memory(module);
  bind_dlpack(module);
  bind_cache(module);
  bind_batch(module);
  bind_reader(module);
  bind_order(module);
  bind_cycle(module);
  bind_gpu(module);
}
