// ReaderOptions out of a dict, which the Python files make (xtts_precompute/_cache/options.py).
#pragma once

#include <nanobind/nanobind.h>

#include "xtts/batch.hpp"

namespace xtts::python {

// Keys are the names of the struct's members. StatusError, kInvalidArgument: a key that it does not
// have, or a value of another kind. A member without a key keeps its default.
[[nodiscard]] ReaderOptions to_reader_options(const nanobind::dict& given);

}  // namespace xtts::python
