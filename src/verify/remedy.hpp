// remedy: what to do about what a verify has found. One step, the cheapest that helps; the verify
// after it tells the next. Reads sources.bin. Failures: none.
#pragma once

#include <optional>

#include "verify/run.hpp"

namespace xtts::verify {

[[nodiscard]] std::optional<Remedy> remedy_of(const Run& run, const Report& report);

}  // namespace xtts::verify
