// Writes a number with the noun that it counts. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace xtts {

// "1 clip", "13,100 clips".
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view one,
                                         std::string_view many) {
  std::string text = std::to_string(count);
  for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, ",");
  text += ' ';
  text += count == 1 ? one : many;
  return text;
}

// How many of `count` things a list shows that has room for `room`. The line "and 1 more" would
// take the place of the last one, so the list shows that one instead.
[[nodiscard]] constexpr std::size_t shown_of(std::size_t count, std::size_t room) {
  return count <= room + 1 ? count : room;
}

}  // namespace xtts
