// The doctor's report as one HTML file: the verdict, what to do, changes of the configuration, and
// each check with what it rests on. Pure function; any thread. Equal values give equal bytes.
#pragma once

#include <string>
#include <vector>

#include "doctor/check.hpp"

namespace xtts::doctor {

// What a page says besides the checks.
struct PageFacts {
  std::string title = {};                  // "Why does the GPU wait?"
  std::string date = {};                   // as it is to be shown
  std::vector<std::string> machine = {};   // facts in words
  std::vector<std::string> versions = {};  // "xtts-precompute 0.1.0"
};

[[nodiscard]] std::string doctor_page(const PageFacts& facts, const std::vector<Check>& checks);

}  // namespace xtts::doctor
