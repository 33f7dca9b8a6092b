#include "pipeline/warning_kinds.hpp"

#include <algorithm>
#include <functional>

namespace xtts::pipeline {

void WarningKinds::add(const std::string& id, std::span<const formats::Reason> warnings) {
  for (const formats::Reason& warning : warnings) {
    WarningKind& kind = kinds_[warning.rule];
    if (kind.count++ > 0) continue;
    kind.example = warning;
    kind.example_id = id;
  }
}

std::vector<WarningKind> WarningKinds::by_count() const {
  std::vector<WarningKind> sorted;
  for (const auto& [rule, kind] : kinds_) sorted.push_back(kind);
  std::ranges::stable_sort(sorted, std::greater<>(), &WarningKind::count);
  return sorted;
}

}  // namespace xtts::pipeline
