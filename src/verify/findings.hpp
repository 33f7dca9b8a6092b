// Findings collects the findings of all threads of one verify. It keeps the first `kept_max` by
// file and offset, in whatever order they come. So a report is the same for any number of threads,
// and a ruined cache does not fill the memory. Synchronised inside.
#pragma once

#include <compare>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "verify/verify.hpp"

namespace xtts::verify {

class Findings {
 public:
  explicit Findings(std::uint64_t kept_max) : kept_max_(kept_max) {}

  void add(Finding finding);
  [[nodiscard]] bool is_empty();
  // Returns the files with damage that a check reported, and the copies of what the index has
  // (rejects.jsonl, its own) if they differ.
  [[nodiscard]] std::set<std::string> files_to_repair();
  // Forgets the findings of checks about a mended file.
  void forget(const std::string& file);
  // Puts findings, their number and `ok` into the report. Nothing is added after this point.
  void move_into(Report& report);

 private:
  // Damage stands before notes: where findings are cut, no note may push damage out.
  using Key = std::tuple<Weight, std::string, std::uint64_t, Check, Outcome, std::string,
                         std::string_view, std::array<std::uint64_t, 2>, std::string>;

  std::uint64_t kept_max_;
  std::mutex mutex_;  // guards the members below
  std::multimap<Key, Finding> kept_;
  struct Tally {
    std::uint64_t by_checks = 0;
    std::uint64_t other = 0;
    bool has_damage_by_checks = false;
    bool has_other_damage = false;
  };
  std::map<std::string, Tally> by_file_;  // also counts findings that are not kept
};

}  // namespace xtts::verify
