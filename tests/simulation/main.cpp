// simulation: runs seeds, and tells the shortest history of the first that fails.
//
// Each history runs in a process of its own: a crash or a hang is a failure like any other.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include "shrink.hpp"
#include "world.hpp"

namespace xtts::simulation {
namespace {

struct Options {
  std::uint64_t start = 1;
  std::uint64_t seeds = 100;
  double seconds = 0;  // 0: no limit
  bool tells_history = false;
  bool keeps_going = false;
  bool shrinks = true;
};

int usage() {
  std::cerr << "simulation [--seeds N] [--start S] [--seconds T] [--keep-going] [--no-shrink]\n"
               "simulation --seed S [--history]\n";
  return 2;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int run(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  Totals totals;
  std::uint64_t done = 0;
  int failures = 0;
  for (; done < options.seeds; ++done) {
    if (options.seconds > 0 && seconds_since(begin) > options.seconds) break;
    const std::uint64_t seed = options.start + done;
    const Verdict verdict = run_apart(make_history(seed));
    totals.steps += verdict.totals.steps;
    totals.decisions += verdict.totals.decisions;
    totals.programs += verdict.totals.programs;
    totals.comparisons += verdict.totals.comparisons;
    if (options.tells_history) std::cout << verdict.story;
    if (!verdict.failure) continue;
    ++failures;
    std::cout << "seed " << seed << " breaks '" << verdict.failure->invariant
              << "': " << verdict.failure->text << "\n";
    if (options.shrinks) {
      const Shrunk shrunk = shrink(make_history(seed), *verdict.failure);
      std::cout << "The shortest history of it, after " << shrunk.attempts << " attempts:\n"
                << shrunk.verdict.story << "which breaks '" << shrunk.verdict.failure->invariant
                << "': " << shrunk.verdict.failure->text << "\n";
    }
    std::cout << std::flush;
    if (!options.keeps_going) break;
  }
  const double seconds = seconds_since(begin);
  std::cout << done << " seeds from " << options.start << ", " << failures
            << " failing: " << totals.programs << " programs, " << totals.steps << " steps, "
            << totals.decisions << " decisions, " << totals.comparisons
            << " comparisons with a build from nothing in " << seconds << " s: "
            << static_cast<std::uint64_t>(static_cast<double>(totals.steps + totals.decisions) /
                                          seconds * 60)
            << " a minute\n";
  return failures == 0 ? 0 : 1;
}

int run_main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    const auto number = [&] { return ++i, std::strtoull(value, nullptr, 10); };
    if (word == "--history") {
      options.tells_history = true;
    } else if (word == "--keep-going") {
      options.keeps_going = true;
    } else if (word == "--no-shrink") {
      options.shrinks = false;
    } else if (value == nullptr) {
      return usage();
    } else if (word == "--seeds") {
      options.seeds = number();
    } else if (word == "--start") {
      options.start = number();
    } else if (word == "--seconds") {
      options.seconds = static_cast<double>(number());
    } else if (word == "--seed") {
      options.start = number();
      options.seeds = 1;
    } else {
      return usage();
    }
  }
  return run(options);
}

}  // namespace
}  // namespace xtts::simulation

int main(int argc, char** argv) {
  return xtts::simulation::run_main(argc, argv);
}
