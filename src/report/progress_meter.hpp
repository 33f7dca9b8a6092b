// ProgressMeter turns counts of work into the figures of a progress line: speeds, and the time
// left. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "report/progress.hpp"
#include "report/rate.hpp"

namespace xtts::report {

// The work done so far. Threads may report out of order: counts that fall change no speed.
struct WorkCounts {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  std::uint64_t rejects = 0;
  double sound_seconds = 0.0;
  std::uint64_t bytes = 0;
};

class ProgressMeter {
 public:
  // Speeds are measured from the first update on. An interrupted build continues, so its first
  // `done` is that of the run before.
  void update(std::chrono::nanoseconds now, const WorkCounts& counts);
  // Gives the figures of the last update. Call update() first.
  [[nodiscard]] Progress shown() const;

 private:
  struct Rates {
    RateEstimator done, sound, bytes;
  };

  WorkCounts start_;
  WorkCounts last_;
  std::optional<Rates> rates_;
};

}  // namespace xtts::report
