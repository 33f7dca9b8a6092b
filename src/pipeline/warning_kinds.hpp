// WarningKinds: the warnings of all clips counted by kind, for the summary: a hundred thousand
// short clips are one line. One thread at a time. Memory: at most kKindsMax kinds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace xtts::pipeline {

struct WarningKind {
  std::uint64_t count = 0;  // clips
  std::string example;      // the first of them in canonical order
  std::string example_id;
};

class WarningKinds {
 public:
  // `lines`: one warning a line.
  void add(const std::string& id, std::string_view lines);
  // The commonest first.
  [[nodiscard]] std::vector<WarningKind> by_count() const;

 private:
  static constexpr std::size_t kKindsMax = 1000;

  std::map<std::string, WarningKind> kinds_;  // by shape
};

}  // namespace xtts::pipeline
