// Lines "KEY words", as Kaldi writes wav.scp, text and utt2spk. Free functions; what they hand out
// are views of the list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "corpus/lists/line_reader.hpp"

namespace xtts::corpus {

struct KeyLine {
  std::uint64_t line = 0;
  std::string_view key;
  std::string_view words;            // trimmed; may be empty
  std::optional<std::string> fault;  // continues "the line ..."; the key is then a hint at most
};

// The next line that is not blank, split at its first white space; nullopt at the end.
[[nodiscard]] std::optional<KeyLine> next_key_line(LineReader& list);

// Takes the first word off `words`; empty where there is none.
std::string_view take_word(std::string_view& words);

}  // namespace xtts::corpus
