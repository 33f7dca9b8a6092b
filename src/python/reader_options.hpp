// Makes ReaderOptions of the dict that the Python files make (xtts_precompute/_cache/options.py).
#pragma once

#include <nanobind/nanobind.h>

#include "xtts/batch.hpp"

namespace xtts::python {

// Keys are the names of the struct's members. A member without a key keeps its default. Throws
// StatusError with kInvalidArgument for an unknown key, or for a value of the wrong kind.
[[nodiscard]] ReaderOptions to_reader_options(const nanobind::dict& given);

}  // namespace xtts::python
