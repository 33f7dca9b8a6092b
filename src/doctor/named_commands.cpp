#include "doctor/named_commands.hpp"

#include <sstream>

#include "base/shell_words.hpp"

namespace xtts::doctor {
namespace {

constexpr std::string_view kProgram = "xtts-precompute ";

std::string named(const std::string& command, const CommandNames& names) {
  const bool has_recipe = command.find("--config") != std::string::npos ||
                          command.find("--recipe") != std::string::npos;
  const bool builds = command.find(" DATA ") != std::string::npos;
  std::string text;
  std::istringstream words(command);
  for (std::string word; words >> word;) {
    if (word == "DATA" && !names.data.empty()) word = shell_quoted(names.data);
    const bool is_cache = word == "CACHE";
    if (is_cache && !names.cache.empty()) word = shell_quoted(names.cache);
    text += (text.empty() ? "" : " ") + word;
    if (is_cache && builds && !has_recipe && !names.recipe_words.empty())
      text += " " + names.recipe_words;
  }
  return text;
}

}  // namespace

std::string with_names(const std::string& text, const CommandNames& names) {
  std::string result;
  std::size_t at = 0;
  while (true) {
    const std::size_t begin = text.find('`', at);
    const std::size_t end = begin == std::string::npos ? begin : text.find('`', begin + 1);
    if (end == std::string::npos) return result + text.substr(at);
    const std::string command = text.substr(begin + 1, end - begin - 1);
    result += text.substr(at, begin + 1 - at);
    result += command.starts_with(kProgram) ? named(command, names) : command;
    result += '`';
    at = end + 1;
  }
}

}  // namespace xtts::doctor
