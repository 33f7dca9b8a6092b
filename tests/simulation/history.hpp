// A History is what happens in one simulation: the corpus, the cache's settings, and events. Each
// event has a seed of its own, so that one can be taken out without changing the others. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "corpus_model.hpp"
#include "process_env.hpp"

namespace xtts::simulation {

// A command line without "xtts-precompute", or "add_column NAME VERSION", which Python would call.
struct ProgramRun {
  std::vector<std::string> words;
  Fate fate;
};

enum class EventKind : std::uint8_t {
  kChange,
  kRun,
  kOpenReader,
  kReadAgain,
  kCloseReader,
  kDamage,
};

struct Event {
  EventKind kind = EventKind::kChange;
  std::uint64_t seed = 0;
  ChangeKind change = ChangeKind::kAdd;
  std::vector<ProgramRun> programs = {};           // kRun: side by side
  std::optional<std::uint64_t> power_cut_at = {};  // kRun: a step
  bool power_keeps_some = false;                   // of what was not synced
  double switch_share = 0.05;                      // how often threads take turns
};

struct History {
  std::uint64_t seed = 0;
  CorpusKind corpus = CorpusKind::kFiles;
  std::uint32_t clip_count = 10;
  bool is_on_network = false;
  std::vector<Event> events = {};
};

[[nodiscard]] History make_history(std::uint64_t seed);

[[nodiscard]] std::string describe(const ProgramRun& program);
[[nodiscard]] std::string describe(const std::vector<std::string>& words);

}  // namespace xtts::simulation
