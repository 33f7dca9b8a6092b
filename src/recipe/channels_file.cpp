#include "recipe/channels_file.hpp"

#include <charconv>
#include <cmath>
#include <sstream>

#include "base/try.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::recipe {
namespace {

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

Result<ChannelNumbers> parse(const std::string& text) {
  ChannelNumbers found;
  std::istringstream lines(text);
  std::size_t line_number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++line_number;
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    const std::vector<double> numbers = numbers_of(line);
    const bool has_offset = numbers.size() == 2;
    const bool is_as_before = found.scales.empty() || has_offset == !found.offsets.empty();
    if ((numbers.size() != 1 && !has_offset) || !is_as_before) {
      return Status(
          StatusCode::kInvalidArgument,
          "line " + std::to_string(line_number) + ", '" + line.substr(first, 40) +
              "': each line is one number, SCALE, or each is two, OFFSET SCALE. Of a file of "
              "torch: python3 -c 'import torch, sys; "
              "print(*torch.load(sys.argv[1]).tolist(), sep=\"\\n\")' mel_stats.pth");
    }
    if (has_offset) found.offsets.push_back(numbers.front());
    found.scales.push_back(numbers.back());
  }
  return found;
}

}  // namespace

Result<ChannelNumbers> read_channels_file(Env& env, const std::string& folder,
                                          const std::string& path) {
  const std::string full = path.starts_with('/') ? path : join_path(folder, path);
  XTTS_ASSIGN(const std::string text, read_text_file(env, full, kYamlBytesMax));
  auto numbers = parse(text);
  if (!numbers.ok()) return numbers.status().with_context(full);
  return numbers;
}

}  // namespace xtts::recipe
