// NameTable: names with numbers that never change: a name's number is its place, new names are
// appended. Plain value, one thread at a time.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "corpus/corpus.hpp"

namespace xtts::pipeline {

// All that the clips have in a field, but for nothing: rejected clips' names, too, so that a
// speaker's number does not change with what becomes of a clip.
[[nodiscard]] inline std::set<std::string, std::less<>> names_of(
    const std::vector<corpus::Clip>& clips, SharedText corpus::Clip::*field) {
  std::set<std::string, std::less<>> names;
  for (const corpus::Clip& clip : clips) {
    const std::string_view name = clip.*field;
    if (!name.empty() && !names.contains(name)) names.emplace(name);
  }
  return names;
}

class NameTable {
 public:
  // `known` first, as they are; then what `found` adds, sorted, so that no order of discovery
  // shows.
  NameTable(std::vector<std::string> known, const std::set<std::string, std::less<>>& found)
      : names_(std::move(known)) {
    for (const auto& name : names_)
      numbers_.emplace(name, static_cast<std::int32_t>(numbers_.size()));
    for (const auto& name : found) {
      if (numbers_.emplace(name, static_cast<std::int32_t>(names_.size())).second)
        names_.push_back(name);
    }
  }

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  // -1: unknown (the empty name is never in a table).
  [[nodiscard]] std::int32_t number_of(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? -1 : found->second;
  }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

}  // namespace xtts::pipeline
