// Long work calls check_cancelled() at each step, so that a caller can stop it early.
#pragma once

#include <functional>

#include "xtts/status.hpp"

namespace xtts {

// kCancelled if `cancelled` returns true; an empty function never cancels.
[[nodiscard]] inline Status check_cancelled(const std::function<bool()>& cancelled) {
  if (!cancelled || !cancelled()) return {};
  return {StatusCode::kCancelled, "stopped as asked"};
}

}  // namespace xtts
