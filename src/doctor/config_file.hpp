// Replaces a small file of a user's, and keeps the old one beside it.
#pragma once

#include <string>
#include <string_view>

#include "base/env.hpp"

namespace xtts::doctor {

// Replaces the text `before` of a file by `after`, at once, and returns the path of the backup:
// FILE.bak, or the first of .bak.1, .bak.2, ... that does not exist. The backup is the old file
// itself, under another name, where the file system has hard links; else a copy.
//
// The new file has the owner (as far as this process may give it), the group and the mode of the
// old one, but not its access control lists. Other hard links of the file keep the old text. Where
// `path` is a link, its target is replaced. Failures: kResource (no room, a folder or file that is
// read-only, a file that was changed meanwhile), kNotFound. The file is then the old one, and no
// backup is left.
[[nodiscard]] Result<std::string> replace_config(Env& env, const std::string& path,
                                                 std::string_view before, std::string_view after);

}  // namespace xtts::doctor
