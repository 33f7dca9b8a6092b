// A World lives through one History and looks at the invariants (README.md).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "corpus_model.hpp"
#include "history.hpp"
#include "oracle.hpp"
#include "process_env.hpp"
#include "program.hpp"
#include "reader/cache_view.hpp"

namespace xtts::simulation {

struct Failure {
  std::string invariant;
  std::string text;
};

struct Totals {
  std::uint64_t steps = 0;
  std::uint64_t decisions = 0;
  std::uint64_t programs = 0;
  std::uint64_t comparisons = 0;  // with a build from nothing
};

class World {
 public:
  explicit World(History history);

  // The first invariant that does not hold; nothing if all do.
  [[nodiscard]] std::optional<Failure> run();
  [[nodiscard]] const std::string& story() const noexcept { return story_; }
  [[nodiscard]] const Totals& totals() const noexcept { return totals_; }

 private:
  struct Running {
    Process process;
    Outcome outcome;
    std::vector<std::string> words;
  };
  struct Reader {
    Process process;
    std::unique_ptr<ProcessEnv> env;
    std::shared_ptr<reader::CacheView> view;
    Snapshot snapshot;
  };
  // The state before a run, for `kept`.
  struct Before {
    Files data;
    std::optional<Snapshot> cache;
    Unfinished unfinished;
    bool had_manifest = false;
  };
  using Verdict = std::optional<Failure>;

  [[nodiscard]] Verdict live(const Event& event);
  [[nodiscard]] Verdict run_programs(const Event& event);
  // Runs one program undisturbed, by the seed; judges it.
  [[nodiscard]] Verdict run_alone(const std::vector<std::string>& words, Outcome& outcome);
  [[nodiscard]] Verdict run_again(const Running& one);
  [[nodiscard]] Verdict run_side_by_side(const Event& event, std::deque<Running>& running);
  void cut_power(const Event& event, std::deque<Running>& running);

  [[nodiscard]] Before look_before();
  [[nodiscard]] Verdict judge_all(const Before& before, const std::deque<Running>& running);
  [[nodiscard]] Verdict judge_alone(const Before& before, const Running& one);
  [[nodiscard]] Verdict judge_build(const Before& before, const Running& one,
                                    const Snapshot& cache);
  [[nodiscard]] Verdict judge_superseded(const Snapshot& cache);
  [[nodiscard]] Verdict judge_fresh(const Snapshot& cache);
  [[nodiscard]] Verdict judge_failed(const Before& before, const Running& one);
  [[nodiscard]] Verdict paste(const std::vector<std::string>& first, const Outcome& outcome);

  [[nodiscard]] Verdict open_reader(const Event& event);
  [[nodiscard]] Verdict read_again(const Event& event);
  [[nodiscard]] Verdict damage(const Event& event);
  [[nodiscard]] Verdict settle();

  [[nodiscard]] bool is_published_whole(std::string& why);
  void note_whole();
  [[nodiscard]] bool can_be_built(const std::vector<std::string>& words);
  void tell(const std::string& line) { story_ += line + "\n"; }
  void tell_outcome(const Running& one);

  History history_;
  Disk disk_;
  CorpusModel corpus_;
  std::map<std::uint32_t, Reader> readers_;
  std::uint32_t next_reader_ = 0;
  bool is_damaged_ = false;
  std::optional<formats::Manifest> last_whole_;              // of the cache when it was whole last
  std::vector<std::vector<std::string>> asked_since_whole_;  // builds; one may lie unfinished
  bool is_pasting_ = false;
  std::vector<std::string> last_build_;
  std::map<std::string, FreshCache> fresh_;  // by DATA and settings
  Nanoseconds clock_{std::chrono::hours(1)};
  std::uint64_t next_seed_ = 0;
  std::string story_;
  Totals totals_;
};

}  // namespace xtts::simulation
