// BuildRates turns counts of a build into the figures of its progress line. One thread at a time.
#pragma once

#include <chrono>
#include <optional>

#include "pipeline/build_observer.hpp"
#include "report/rate.hpp"
#include "xtts/builder.hpp"

namespace xtts::request {

class BuildRates {
 public:
  // Counting starts with the first update: an interrupted build continues from there.
  void update(std::chrono::nanoseconds now, const pipeline::BuildProgress& progress);
  // Gives the figures of the last update. Call update() first.
  [[nodiscard]] BuildProgress shown() const;

 private:
  struct Rates {
    report::RateEstimator clips, sound, bytes;
  };

  pipeline::BuildProgress start_;
  pipeline::BuildProgress last_;
  std::optional<Rates> rates_;
};

}  // namespace xtts::request
