// The wording that parsing, --set and the trainer's config share. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/recipe.hpp"

namespace xtts::recipe {

// "; did you mean 'features.mel.n_mels'?", or empty where nothing is near. `name` may be short
// ("n_mel") or full.
[[nodiscard]] std::string suggest_key(std::string_view name);

// The last word of a dotted key.
[[nodiscard]] std::string_view last_word(std::string_view key);

[[nodiscard]] std::string join_lines(const std::vector<std::string>& lines);

}  // namespace xtts::recipe
