// Oddities: what is strange about a sound that is not broken, a line each for its warnings. Such
// clips are stored; `ls --where 'warnings != ""'` shows them. A pure function.
#pragma once

#include <string>
#include <vector>

#include "formats/facts.hpp"

namespace xtts::pipeline {

// Of decoded and conditioned facts.
[[nodiscard]] std::vector<std::string> oddities_of(const formats::RecordFacts& facts);

}  // namespace xtts::pipeline
