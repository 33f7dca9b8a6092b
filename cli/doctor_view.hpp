// The doctor's findings in plain text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/diagnose.hpp"

namespace xtts::cli {

// Which checks show the numbers that they rest on.
enum class Evidence { kOfProblems, kAll };

// Lines end before `width` columns where they can.
[[nodiscard]] std::string describe_diagnosis(const doctor::Diagnosis& diagnosis, Evidence evidence,
                                             std::size_t width);

}  // namespace xtts::cli
