// Findings: what the threads of one verify have found. Keeps the first `kept_max` by file and
// offset, whatever the order in which they come, so that a report is the same for any number of
// threads and a ruined cache does not fill the memory. Synchronised inside.
#pragma once

#include <compare>
#include <map>
#include <mutex>
#include <tuple>

#include "verify/verify.hpp"

namespace xtts::verify {

class Findings {
 public:
  explicit Findings(std::uint64_t kept_max) : kept_max_(kept_max) {}

  void add(Finding finding);
  // Puts findings, their number and `ok` into the report. Nothing is added after this point.
  void move_into(Report& report);

 private:
  // Damage stands before notes: where findings are cut, no note may push damage out.
  using Key = std::tuple<Weight, std::string, std::uint64_t, std::string, std::string>;

  std::uint64_t kept_max_;
  std::mutex mutex_;  // guards what stands below
  std::multimap<Key, Finding> kept_;
  std::uint64_t count_ = 0;
  bool damage_ = false;
};

}  // namespace xtts::verify
