#include "corpus/split_names.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "base/env.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace {

constexpr std::array<std::pair<std::string_view, Split>, 8> kWords = {{
    {"train", Split::kTrain},
    {"training", Split::kTrain},
    {"validation", Split::kValidation},
    {"valid", Split::kValidation},
    {"val", Split::kValidation},
    {"dev", Split::kValidation},
    {"eval", Split::kValidation},
    {"test", Split::kTest},
}};

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::optional<Split> split_of_word(std::string_view word) {
  for (const auto& [known, split] : kWords) {
    if (equals_ignoring_case(word, known)) return split;
  }
  return std::nullopt;
}

std::optional<Split> split_of_name(std::string_view path) {
  const std::string_view name = file_name(path);
  std::optional<Split> found;
  for (std::size_t begin = 0; begin < name.size();) {
    std::size_t end = begin;
    while (end < name.size() && is_of_word(name[end])) ++end;
    const auto split = split_of_word(name.substr(begin, end - begin));
    if (split && found && *split != *found) return std::nullopt;
    if (split) found = split;
    begin = end + 1;
  }
  return found;
}

}  // namespace xtts::corpus
