#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest_name.hpp"
#include "recipe/recipe_file.hpp"

namespace xtts::recipe {
namespace {

constexpr std::size_t kNameBytesMax = 128;  // no key is longer

// Names of other tools differ in their last word: hop_length for hop_samples, win_size for
// win_samples.
bool same_first_word(std::string_view a, std::string_view b) {
  const std::size_t end = a.find('_');
  return end != std::string_view::npos && end >= 3 && b.substr(0, end + 1) == a.substr(0, end + 1);
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

}  // namespace xtts::recipe
