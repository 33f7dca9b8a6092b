// The characters of a TextConfig vocabulary. It has two spellings: one line of characters, or one
// character a line if there is a line break. A character is a Unicode code point. Nothing is
// normalized or folded, because a token must mean the same as in the trainer's own table. Pure;
// the views point into the memory of `vocabulary`.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/formatted.hpp"
#include "base/utf8.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// kInvalidArgument: not UTF-8, a repeated character, a line that is not one character, or a
// control character.
[[nodiscard]] inline Result<std::vector<std::string_view>> split_vocabulary(
    std::string_view vocabulary) {
  const auto fail = [](std::string problem) {
    return Status(StatusCode::kInvalidArgument, std::move(problem));
  };
  while (!vocabulary.empty() && vocabulary.back() == '\n') vocabulary.remove_suffix(1);
  const bool one_a_line = vocabulary.find('\n') != std::string_view::npos;
  std::vector<std::string_view> characters;
  std::unordered_set<std::string_view> seen;
  for (std::size_t position = 0; position < vocabulary.size();) {
    const std::size_t length = utf8_length_bytes(vocabulary.substr(position));
    const std::string place = formatted("character {}", characters.size() + 1);
    if (length == 0) return fail(place + " is not UTF-8");
    const std::string_view character = vocabulary.substr(position, length);
    const std::uint32_t code_point = utf8_code_point(character);
    if (code_point < 0x20 || code_point == 0x7F) {
      return fail(character == "\n" ? formatted("line {} is empty", characters.size() + 1)
                                    : place + " is a control character");
    }
    if (!seen.insert(character).second) {
      return fail(formatted("'{}' is given twice", character));
    }
    characters.push_back(character);
    position += length;
    if (!one_a_line || position == vocabulary.size()) continue;
    if (vocabulary[position] != '\n') {
      return fail(formatted("line {} holds more than one character", characters.size()));
    }
    ++position;
  }
  return characters;
}

}  // namespace xtts::formats
