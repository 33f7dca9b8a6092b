#include "recipe/named_files.hpp"

#include <charconv>
#include <cmath>
#include <sstream>

#include "base/small_list.hpp"
#include "base/try.hpp"
#include "formats/vocabulary.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::recipe {
namespace {

std::string full_path(const std::string& folder, const std::string& path) {
  return path.starts_with('/') ? path : join_path(folder, path);
}

// The numbers of a line; nothing where one of its words is none.
std::vector<double> numbers_of(const std::string& line) {
  std::vector<double> numbers;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    double number = 0.0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    if (error != std::errc() || stop != end || !std::isfinite(number)) return {};
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

Result<std::string> canonical_vocabulary(std::string_view spelled) {
  XTTS_ASSIGN(const auto characters, formats::split_vocabulary(spelled));
  std::string line;
  for (const std::string_view character : characters) line += character;
  return line;
}

Result<std::string> read_vocabulary_file(Env& env, const std::string& folder,
                                         const std::string& path) {
  XTTS_ASSIGN(const SmallList list, read_small_list(env, full_path(folder, path), kYamlBytesMax));
  std::string text;
  for (const std::string& line : list.lines) text += line + '\n';
  auto characters = canonical_vocabulary(text);
  if (!characters.ok()) return characters.status().with_context(list.path);
  return characters;
}

Result<ChannelNumbers> read_channels_file(Env& env, const std::string& folder,
                                          const std::string& path) {
  XTTS_ASSIGN(const SmallList list, read_small_list(env, full_path(folder, path), kYamlBytesMax));
  ChannelNumbers found;
  for (std::size_t i = 0; i < list.lines.size(); ++i) {
    const std::string& line = list.lines[i];
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#') continue;
    const std::vector<double> numbers = numbers_of(line);
    const bool has_offset = numbers.size() == 2;
    const bool is_as_before = found.scales.empty() || has_offset == !found.offsets.empty();
    if ((numbers.size() != 1 && !has_offset) || !is_as_before) {
      return list.fault(
          i, "'" + line.substr(first, 40) +
                 "': each line is one number, SCALE, or each is two, OFFSET SCALE. To write such "
                 "a file from one of torch: python3 -c 'import torch, sys; "
                 "print(*torch.load(sys.argv[1]).tolist(), sep=\"\\n\")' mel_stats.pth");
    }
    if (has_offset) found.offsets.push_back(numbers.front());
    found.scales.push_back(numbers.back());
  }
  return found;
}

}  // namespace xtts::recipe
