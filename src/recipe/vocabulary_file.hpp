// Vocabulary files -> the characters that a recipe holds. Free functions; share freely.
#pragma once

#include <string>
#include <string_view>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::recipe {

// One line of characters, whichever way they were spelled: equal vocabularies have one fingerprint.
[[nodiscard]] Result<std::string> canonical_vocabulary(std::string_view spelled);

// A byte-order mark and CR before LF are not characters. `path` is relative to `folder` unless
// absolute.
[[nodiscard]] Result<std::string> read_vocabulary_file(Env& env, const std::string& folder,
                                                       const std::string& path);

}  // namespace xtts::recipe
