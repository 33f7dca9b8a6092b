// A file that the user names for a result (--npy FILE). What stands there decides:
//   nothing, a regular file     written anew beside it under a name of its own, then renamed: the
//                               old bytes or the new ones. A link stays, and its target is that
//                               file.
//   what stdout or stderr is,   written through, never replaced. Whoever reads a FIFO is waited
//   for, a FIFO, a terminal or       until a signal comes. another character device a folder,
//   socket or disk    refused (kInvalidArgument)
// Main thread only. Other failures: kResource, kCancelled.
#pragma once

#include <string>
#include <string_view>

#include "base/env.hpp"

namespace xtts::cli {

[[nodiscard]] Status write_output_file(Env& env, const std::string& path, std::string_view bytes);
// Then nothing else may be printed.
[[nodiscard]] bool is_standard_output(const std::string& path);

}  // namespace xtts::cli
