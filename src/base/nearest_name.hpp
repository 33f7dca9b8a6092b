// Finds the nearest name by edit distance, for "Did you mean ...?". Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace xtts {

// Insertions, deletions, replacements and swaps of neighbours cost one each. Quadratic in the
// lengths, so only for names.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({replaced, cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

// Empty: no candidate is within a third of the name's length. The first of equally near ones wins.
// Capital letters of ASCII count as small ones.
[[nodiscard]] inline std::string nearest_of(std::string_view name,
                                            const std::vector<std::string>& candidates) {
  constexpr std::size_t kNameBytesMax = 64;
  if (name.size() > kNameBytesMax) return {};
  const auto in_small_letters = [](std::string_view text) {
    std::string small(text);
    for (char& c : small) c = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return small;
  };
  const std::string wanted = in_small_letters(name);
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, in_small_letters(candidate));
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

}  // namespace xtts
