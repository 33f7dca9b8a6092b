// Checks of texts and paths that programs pass in. They refuse, by the option's name and before
// any use, what cannot be a file or name. Pure functions. Failures: kInvalidArgument.
#pragma once

#include <climits>
#include <string>
#include <string_view>

#include "base/formatted.hpp"
#include "xtts/status.hpp"

namespace xtts {

// The system ends a text at a zero byte and would ignore the rest.
[[nodiscard]] inline Status check_text(std::string_view option, std::string_view text) {
  const std::size_t zero = text.find('\0');
  if (zero == std::string_view::npos) return {};
  return {StatusCode::kInvalidArgument, formatted("{} holds a zero byte, as its byte {}: '{}'",
                                                  option, zero, text.substr(0, zero))};
}

// Accepts an empty path: the caller refuses it or gives it a meaning.
[[nodiscard]] inline Status check_path_text(std::string_view option, std::string_view path) {
  constexpr std::size_t kShown = 64;
  if (path.size() >= PATH_MAX) {
    return {StatusCode::kInvalidArgument,
            formatted("{} has {} bytes, and the system takes paths of {}: '{}...'", option,
                      path.size(), PATH_MAX - 1,
                      path.substr(0, path.find('\0') < kShown ? path.find('\0') : kShown))};
  }
  return check_text(option, path);
}

// A path that has to be given.
[[nodiscard]] inline Status check_path(std::string_view option, std::string_view path) {
  if (path.empty()) return {StatusCode::kInvalidArgument, std::string(option) + " is empty"};
  return check_path_text(option, path);
}

}  // namespace xtts
