// The keys of the recipe's features section, in the order in which they are printed.
#pragma once

#include <vector>

#include "recipe/key_table.hpp"

namespace xtts::recipe {

[[nodiscard]] std::vector<Key> feature_keys();

}  // namespace xtts::recipe
