// What messages of one kind have in common: "1034 frames, at most 800" and "990 frames, at most
// 800" are one, and so are "no audio named 'a'" and "no audio named 'b'". A pure function.
#pragma once

#include <string>
#include <string_view>

namespace xtts {

// Every number as '#', what is quoted left out.
[[nodiscard]] inline std::string message_shape(std::string_view message) {
  std::string shape;
  bool quoted = false;
  for (const char c : message) {
    if (c == '\'' || c == '"') quoted = !quoted;
    const bool digit = c >= '0' && c <= '9';
    if (quoted || (digit && !shape.empty() && shape.back() == '#')) continue;
    shape += digit ? '#' : c;
  }
  return shape;
}

}  // namespace xtts
