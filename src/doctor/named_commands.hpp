// Commands within remedies, with the names that the user has given: to be pasted as they stand.
#pragma once

#include <string>

namespace xtts::doctor {

struct CommandNames {
  std::string data = {};          // empty: it stays DATA
  std::string cache = {};         // empty: it stays CACHE
  std::string recipe_words = {};  // "--config config.yaml", for commands that build; empty: none
};

// Replaces the words DATA and CACHE of the commands that stand in backticks.
[[nodiscard]] std::string with_names(const std::string& text, const CommandNames& names);

}  // namespace xtts::doctor
