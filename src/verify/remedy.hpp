// remedy chooses one step against the findings of a verify: the cheapest that helps. The next
// verify gives the next step. Reads sources.bin. Failures: none.
#pragma once

#include <optional>

#include "verify/run.hpp"

namespace xtts::verify {

[[nodiscard]] std::optional<Remedy> remedy_of(const Run& run, const Report& report);

}  // namespace xtts::verify
