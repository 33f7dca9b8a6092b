// NameTable: names with numbers that never change. A name's number is its place; new names are
// appended. Plain value, one thread at a time.
#pragma once

#include <cassert>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "corpus/clips/clip.hpp"

namespace xtts::pipeline {

using NameSet = std::set<std::string, std::less<>>;

// The non-empty names that the clips have in a field. It includes names of rejected clips, so that
// a speaker's number does not depend on which clips are rejected.
[[nodiscard]] inline NameSet names_of(const std::vector<corpus::Clip>& clips,
                                      SharedText corpus::Clip::*field) {
  NameSet names;
  for (const corpus::Clip& clip : clips) {
    const std::string_view name = clip.*field;
    if (!name.empty() && !names.contains(name)) names.emplace(name);
  }
  return names;
}

class NameTable {
 public:
  // The table begins with `known`, unchanged, in which each name is once. New names of `found`
  // follow, sorted, so that the order of discovery does not matter.
  NameTable(std::vector<std::string> known, const NameSet& found) : names_(std::move(known)) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      [[maybe_unused]] const bool is_new =
          numbers_.emplace(names_[i], static_cast<std::int32_t>(i)).second;
      assert(is_new);
    }
    for (const auto& name : found) {
      if (numbers_.emplace(name, static_cast<std::int32_t>(names_.size())).second)
        names_.push_back(name);
    }
  }

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  // Returns -1 for an unknown name (the empty name is never in a table).
  [[nodiscard]] std::int32_t number_of(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? -1 : found->second;
  }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

}  // namespace xtts::pipeline
