// WarningKinds: counts the warnings of all clips by rule, so that a hundred thousand short clips
// are one line of the summary. One thread at a time. Memory: one example of each rule.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "formats/reason.hpp"

namespace xtts::pipeline {

struct WarningKind {
  std::uint64_t count = 0;  // clips
  formats::Reason example;  // the first of them in canonical order
  std::string example_id;
};

class WarningKinds {
 public:
  void add(const std::string& id, std::span<const formats::Reason> warnings);
  // Sorted by count, the most frequent first.
  [[nodiscard]] std::vector<WarningKind> by_count() const;

 private:
  std::map<formats::Rule, WarningKind> kinds_;
};

}  // namespace xtts::pipeline
