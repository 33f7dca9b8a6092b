#include "recipe/message.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "base/nearest_name.hpp"
#include "recipe/key_table.hpp"
#include "recipe/recipe_file.hpp"

namespace xtts::recipe {

std::string_view last_word(std::string_view key) {
  return key.substr(key.rfind('.') + 1);
}

namespace {

constexpr std::size_t kNameBytesMax = 128;  // no key is longer

// Names of other tools differ in their last word: hop_length for hop_samples, win_size for
// win_samples.
bool same_first_word(std::string_view a, std::string_view b) {
  const std::size_t end = a.find('_');
  return end != std::string_view::npos && end >= 3 && b.substr(0, end + 1) == a.substr(0, end + 1);
}

// Keys and sections that lie directly in a section ("features.", or empty for the top).
std::vector<std::string> words_in(std::string_view section) {
  std::vector<std::string> words;
  for (const Key& key : key_table()) {
    if (!key.name.starts_with(section)) continue;
    const std::string_view rest = std::string_view(key.name).substr(section.size());
    const std::string word(rest.substr(0, rest.find('.')));
    if (words.empty() || words.back() != word) words.push_back(word);
  }
  return words;
}

// The first key of the table that ends in the word nearest to `word`.
std::string nearest_key(std::string_view word) {
  std::vector<std::string> last_words;
  for (const Key& key : key_table()) last_words.emplace_back(last_word(key.name));
  const std::string near = nearest_name(word, last_words);
  if (near.empty()) return {};
  for (const Key& key : key_table()) {
    if (last_word(key.name) == near) return key.name;
  }
  return {};
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.size() > kNameBytesMax) return {};
  const std::size_t near_max = std::max<std::size_t>(1, name.size() / 3);
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance > near_max && !same_first_word(name, candidate)) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

// Beside it first, then anywhere: a key in the wrong section finds its place.
std::string suggest_key(std::string_view name) {
  const std::string_view word = last_word(name);
  const std::string_view section = name.substr(0, name.size() - word.size());
  std::string found = nearest_name(word, words_in(section));
  found = found.empty() ? nearest_key(word) : std::string(section) + found;
  return found.empty() ? std::string() : formatted("; did you mean '{}'?", found);
}

std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace xtts::recipe
