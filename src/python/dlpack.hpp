// DLPack capsules whose memory C++ alone keeps. So a consumer may drop them in any thread, without
// the GIL, even while or after the interpreter ends.
//
// A Python owner would take the GIL then, and the process would end in terminate(). That was seen
// with JAX, which drops tensors in threads of its own.
#pragma once

#include <nanobind/nanobind.h>

namespace xtts::python {

void bind_dlpack(nanobind::module_& module);

}  // namespace xtts::python
