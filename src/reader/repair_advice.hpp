// Advice for the reader of a damaged cache: the command, with the cache's real path. Pure
// functions.
#pragma once

#include <string>

#include "base/shell_words.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

[[nodiscard]] inline std::string repair_command(const std::string& cache) {
  return "xtts-precompute verify " + shell_quoted(cache) + " --repair";
}

// Adds to a kCorrupt failure, once, the damaged cache and the command that repairs it. Other
// failures stay as they are.
[[nodiscard]] inline Status with_repair(const Status& status, const std::string& cache) {
  const std::string& message = status.message();
  if (status.code() != StatusCode::kCorrupt ||
      message.find("xtts-precompute verify ") != std::string::npos)
    return status;
  return {status.code(), cache + " is damaged: " + message + "; '" + repair_command(cache) +
                             "' mends it, or says what would"};
}

template <typename T>
[[nodiscard]] Result<T> with_repair(Result<T> result, const std::string& cache) {
  return result.ok() ? std::move(result) : Result<T>(with_repair(result.status(), cache));
}

}  // namespace xtts::reader
