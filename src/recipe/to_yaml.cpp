#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/formatted.hpp"
#include "base/utf8.hpp"
#include "formats/normalization.hpp"
#include "recipe/key_table.hpp"
#include "recipe/message.hpp"
#include "recipe/recipe_file.hpp"

namespace xtts::recipe {
namespace {

constexpr std::size_t kCommentColumn = 36;

std::vector<std::string_view> words_of(std::string_view key) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t dot = key.find('.');
    words.push_back(key.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    key = key.substr(dot + 1);
  }
}

std::string value_of(const Key& key, const formats::Recipe& recipe) {
  const std::vector<std::string> printed = key.print(recipe);
  if (!key.is_list) return printed.front();
  std::string list;
  for (const std::string& item : printed) list += (list.empty() ? "" : ", ") + item;
  return formatted("[{}]", list);
}

// A key that means nothing here is shown as a comment: a person sees that it exists, the parser
// does not refuse it.
std::string line_of(const Key& key, const formats::Recipe& recipe, std::size_t indent) {
  const std::string word(last_word(key.name));
  const std::string reason = why_ignored(key, recipe);
  if (!reason.empty())
    return formatted("{}# {}: not used while {}", std::string(indent, ' '), word, reason);
  std::string line = formatted("{}{}: {}", std::string(indent, ' '), word, value_of(key, recipe));
  if (key.about.empty()) return line;
  line.append(line.size() + 2 < kCommentColumn ? kCommentColumn - line.size() : 2, ' ');
  return formatted("{}# {}", line, key.about);
}

// Sums up all keys of the section.
std::string numbers_comment(const formats::FeatureConfig& features) {
  const auto normalization = formats::normalization_of(features);
  return normalization ? formatted("  # numbers: {}\n", normalization->text) : std::string();
}

}  // namespace

// Everything that could end a line or vanish on a screen is escaped; the rest is left for people to
// read.
std::string quote_yaml(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length_bytes(text.substr(position)));
    const std::string_view character = text.substr(position, length);
    const std::uint32_t code_point = utf8_code_point(character);
    const bool invisible = code_point < 0x20 || (code_point >= 0x7F && code_point <= 0xA0) ||
                           (code_point >= 0x2000 && code_point <= 0x200F) ||
                           (code_point >= 0x2028 && code_point <= 0x202F) || code_point == 0xFEFF;
    if (character == "\"" || character == "\\") quoted += '\\';
    if (invisible) {
      std::array<char, 16> buffer{};
      std::snprintf(buffer.data(), buffer.size(), "\\u%04X", static_cast<unsigned>(code_point));
      quoted += buffer.data();
    } else {
      quoted += character;
    }
    position += length;
  }
  return quoted + "\"";
}

std::string to_yaml(const formats::Recipe& recipe) {
  std::string yaml;
  std::vector<std::string_view> open;  // the sections that the last line lies in
  for (const Key& key : key_table()) {
    if (!key.is_printed) continue;
    std::vector<std::string_view> words = words_of(key.name);
    words.pop_back();
    for (std::size_t depth = 0; depth < words.size(); ++depth) {
      if (depth < open.size() && open[depth] == words[depth]) continue;
      open.resize(depth);
      open.push_back(words[depth]);
      yaml +=
          formatted("{}{}{}:\n", depth == 0 ? "\n" : "", std::string(2 * depth, ' '), words[depth]);
      if (depth == 0 && words[depth] == "features") yaml += numbers_comment(*recipe.features);
    }
    open.resize(words.size());
    yaml += line_of(key, recipe, 2 * words.size()) + "\n";
  }
  return yaml;
}

}  // namespace xtts::recipe
