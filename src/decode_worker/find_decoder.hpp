// Where the program xtts-decode lies. Any thread.
#pragma once

#include <string>

#include "xtts/status.hpp"

namespace xtts::decode_worker {

// Looked for beside the file that asks (a Python wheel), in `installed` (where an installation has
// it, as seen from that file's folder), and where a build folder has it. Not on PATH, where
// another version may be. A file that neither root, nor this user, nor the owner of `folder` owns
// is not run, nor one that all may write to. `folder` is that of the file that asks; empty: not
// known. kNotFound with the places that were looked at.
[[nodiscard]] Result<std::string> find_decoder(const std::string& folder,
                                               const std::string& installed);

}  // namespace xtts::decode_worker
