// Messages for callers in code. Lower layers name options as the command line has them, for that is
// where most people meet them: "--max-dropped 12%". Who set the option in code reads
// `max_dropped="12%"`. Commands to be pasted into a shell stay as they are. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "xtts/status.hpp"

namespace xtts::request {

// The field of a flag ("max-dropped", without dashes): "max_dropped".
[[nodiscard]] std::string field_of(std::string_view flag);

[[nodiscard]] std::string with_fields(std::string_view message);

[[nodiscard]] inline Status with_fields(const Status& status) {
  return status.ok() ? status : Status(status.code(), with_fields(status.message()));
}
template <typename T>
[[nodiscard]] Result<T> with_fields(Result<T> result) {
  return result.ok() ? std::move(result) : Result<T>(with_fields(result.status()));
}

}  // namespace xtts::request
