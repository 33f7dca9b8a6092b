// Runs histories in processes of their own, and makes a failing one short.
#pragma once

#include <optional>
#include <string>

#include "history.hpp"
#include "world.hpp"

namespace xtts::simulation {

struct Verdict {
  std::optional<Failure> failure;
  std::string story;
  Totals totals;
};

// A crash, or no end within a minute, is a failure of 'ends'.
[[nodiscard]] Verdict run_apart(const History& history);

struct Shrunk {
  History history;
  Verdict verdict;
  std::uint64_t attempts = 0;
};

// Takes out events, programs, misfortunes and clips, as long as the same invariant fails.
[[nodiscard]] Shrunk shrink(History history, const Failure& failure);

}  // namespace xtts::simulation
