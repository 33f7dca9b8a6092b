// The options of include/xtts/builder.hpp, of dicts (option_table.hpp).
#pragma once

#include <nanobind/nanobind.h>

#include "xtts/builder.hpp"

namespace xtts::python {

[[nodiscard]] BuildOptions to_build_options(const nanobind::dict& given);
[[nodiscard]] VerifyOptions to_verify_options(const nanobind::dict& given);

}  // namespace xtts::python
