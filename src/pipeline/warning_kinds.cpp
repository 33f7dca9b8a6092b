#include "pipeline/warning_kinds.hpp"

#include <algorithm>

#include "base/message_shape.hpp"

namespace xtts::pipeline {

void WarningKinds::add(const std::string& id, std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    std::string shape = message_shape(line);
    // FFmpeg's own words may differ from file to file.
    if (kinds_.size() >= kKindsMax && !kinds_.contains(shape)) shape = "others";
    WarningKind& kind = kinds_[shape];
    if (kind.count++ > 0) continue;
    kind.example = line;
    kind.example_id = id;
  }
}

std::vector<WarningKind> WarningKinds::by_count() const {
  std::vector<WarningKind> sorted;
  for (const auto& [shape, kind] : kinds_) sorted.push_back(kind);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const WarningKind& a, const WarningKind& b) { return a.count > b.count; });
  return sorted;
}

}  // namespace xtts::pipeline
