// Makes ReaderOptions of the dict that the Python files make (xtts_precompute/_cache/options.py).
#pragma once

#include <nanobind/nanobind.h>

#include "xtts/batch.hpp"

namespace xtts::python {

[[nodiscard]] ReaderOptions to_reader_options(const nanobind::dict& given);

}  // namespace xtts::python
