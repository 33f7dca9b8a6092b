// Writes a result to a file that the user names (--npy FILE). The kind of file there decides how:
//
//   - Nothing, or a regular file: written anew beside it under a temporary name, then renamed. So
//   it has the old bytes or the new ones. A link stays, and its target is that file.
//   - The file of stdout or stderr, a FIFO, a terminal or another character device: written
//   through, never replaced. The write waits for a FIFO's reader until a signal comes.
//   - A folder, a socket or a disk: refused (kInvalidArgument).
//
// Main thread only. Other failures: kResource, kCancelled.
#pragma once

#include <string>
#include <string_view>

#include "base/env.hpp"

namespace xtts::cli {

[[nodiscard]] Status write_output_file(Env& env, const std::string& path, std::string_view bytes);
// When this is true, nothing else may be printed.
[[nodiscard]] bool is_standard_output(const std::string& path);

}  // namespace xtts::cli
