// Work that somebody may want to end early asks at each of its steps. Pure but for the asking.
#pragma once

#include <functional>

#include "xtts/status.hpp"

namespace xtts {

// kCancelled where `cancelled` says so; an empty one never does.
[[nodiscard]] inline Status check_cancelled(const std::function<bool()>& cancelled) {
  if (!cancelled || !cancelled()) return {};
  return {StatusCode::kCancelled, "stopped as asked"};
}

}  // namespace xtts
