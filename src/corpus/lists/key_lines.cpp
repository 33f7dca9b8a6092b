#include "corpus/lists/key_lines.hpp"

#include <algorithm>

#include "corpus/names.hpp"

namespace xtts::corpus {

std::string_view take_word(std::string_view& words) {
  words = trimmed(words);
  const auto end = std::min(words.find_first_of(" \t"), words.size());
  const std::string_view word = words.substr(0, end);
  words = trimmed(words.substr(end));
  return word;
}

std::optional<KeyLine> next_key_line(LineReader& list) {
  while (const auto line = list.next()) {
    if (trimmed(line->text).empty()) continue;
    KeyLine found;
    found.line = line->number;
    found.words = line->text;
    found.key = take_word(found.words);
    found.fault = fault_of_text_bytes(line->text);
    return found;
  }
  return std::nullopt;
}

}  // namespace xtts::corpus
