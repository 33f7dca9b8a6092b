// DLPack capsules whose memory is kept by C++ alone: a consumer may let go of them in any thread,
// without the GIL, also while or after the interpreter ends. (With a Python owner that takes the
// GIL then, which ends in terminate(): seen with JAX, which drops tensors in threads of its own.)
#pragma once

#include <nanobind/nanobind.h>

namespace xtts::python {

void bind_dlpack(nanobind::module_& module);

}  // namespace xtts::python
