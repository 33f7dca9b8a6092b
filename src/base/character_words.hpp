// Characters in words, for messages: "'ß' (U+00DF)", "U+200C (zero width non-joiner)". Pure
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xtts {

[[nodiscard]] std::string code_point_name(std::uint32_t code_point);  // "U+200C"
// True where a person cannot see the character: spaces, marks of direction and joining.
[[nodiscard]] bool is_invisible(std::uint32_t code_point) noexcept;
// `character` is one character of UTF-8. One that nobody sees is told by its number alone.
[[nodiscard]] std::string character_in_words(std::string_view character);

// A character and how often it was met.
using CountedCharacter = std::pair<std::string, std::uint64_t>;
struct ShownCharacters {
  std::vector<CountedCharacter> listed;  // the most frequent first, then by code point
  std::size_t left_out = 0;
};
// Lists `shown` of them at least, and all that are invisible: a reader cannot guess those.
[[nodiscard]] ShownCharacters by_count(const std::map<std::string, std::uint64_t>& counts,
                                       std::size_t shown);

}  // namespace xtts
