#include "corpus/layouts/lhotse_manifests.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "corpus/lists/list_candidates.hpp"

namespace xtts::corpus {
namespace {

constexpr std::array<std::string_view, 2> kEndings = {"jsonl", "jsonl.gz"};
constexpr std::string_view kRecordings = "recordings";
constexpr std::string_view kSupervisions = "supervisions";

// "" where `list` is no list of `kind`; else what is left of its name without kind and ".gz".
std::string key_of(std::string_view list, std::string_view kind) {
  const auto place = list.rfind(kind);
  if (place == std::string_view::npos) return {};
  if (list.ends_with(".gz")) list.remove_suffix(3);
  return std::string(list.substr(0, place)) + "*" + std::string(list.substr(place + kind.size()));
}

}  // namespace

Manifests find_manifests(const DataTree& tree) {
  std::unordered_map<std::string, std::string> supervisions;
  const std::vector<std::string> lists = lists_in(tree, "", kEndings);
  Manifests found;
  for (const std::string& list : lists) {
    const std::string key = key_of(list, kSupervisions);
    // The same name with and without ".gz": the first is used.
    if (!key.empty() && !supervisions.try_emplace(key, list).second) found.alone.push_back(list);
  }
  for (const std::string& list : lists) {
    const std::string key = key_of(list, kRecordings);
    if (key.empty()) continue;
    if (auto pair = supervisions.extract(key)) {
      found.pairs.push_back({list, std::move(pair.mapped())});
    } else {
      found.alone.push_back(list);
    }
  }
  for (auto& [key, list] : supervisions) found.alone.push_back(list);
  std::sort(found.alone.begin(), found.alone.end());
  return found;
}

}  // namespace xtts::corpus
