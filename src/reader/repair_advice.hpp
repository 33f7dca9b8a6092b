// Advice for the reader of a damaged cache: the command, with the cache's real path. Pure
// functions.
#pragma once

#include <string>

#include "base/formatted.hpp"
#include "base/shell_words.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

[[nodiscard]] inline std::string repair_command(const std::string& cache) {
  return formatted("xtts-precompute verify {} --repair", shell_quoted(cache));
}

// Adds to a kCorrupt failure the damaged cache and the command that repairs it. Other failures
// stay as they are. A failure gets this once, where it leaves the reader: each function of
// CacheView does it but read_record() and blocks(), whose callers do.
[[nodiscard]] inline Status with_repair(const Status& status, const std::string& cache) {
  if (status.code() != StatusCode::kCorrupt) return status;
  return {status.code(), formatted("{} is damaged: {}; {} mends it, or says what would", cache,
                                   status.message(), command_in_text(repair_command(cache)))};
}

template <typename T>
[[nodiscard]] Result<T> with_repair(Result<T> result, const std::string& cache) {
  return result.ok() ? std::move(result) : Result<T>(with_repair(result.status(), cache));
}

}  // namespace xtts::reader
