// Findings: what the threads of one verify have found. Keeps the first `kept_max` by file and
// offset, whatever the order in which they come, so that a report is the same for any number of
// threads and a ruined cache does not fill the memory. Synchronised inside.
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
  // Files with damage that a check tells, and rejects.jsonl where it is another text.
  [[nodiscard]] std::set<std::string> files_to_mend();
  // What checks have told of a file that is mended.
  void forget(const std::string& file);
  // Puts findings, their number and `ok` into the report. Nothing is added after this point.
  void move_into(Report& report);

 private:
  // Damage stands before notes: where findings are cut, no note may push damage out.
  using Key = std::tuple<Weight, std::string, std::uint64_t, Check, Outcome, std::string, Sign,
                         std::array<std::uint64_t, 2>, std::string>;

  std::uint64_t kept_max_;
  std::mutex mutex_;  // guards what stands below
  std::multimap<Key, Finding> kept_;
  struct Tally {
    std::uint64_t by_checks = 0;
    std::uint64_t other = 0;
    bool has_damage_by_checks = false;
    bool has_other_damage = false;
  };
  std::map<std::string, Tally> by_file_;  // of those that are not kept, too
};

}  // namespace xtts::verify
