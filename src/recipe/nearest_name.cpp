#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "recipe/recipe_file.hpp"

namespace xtts::recipe {
namespace {

constexpr std::size_t kNameBytesMax =
    128;  // no key is longer; the table below grows with the square

// Insertions, deletions, replacements and swaps of neighbours cost 1 each (optimal string
// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

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
