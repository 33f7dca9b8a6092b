// BuildRates: counts of a build -> what its progress shows. One thread at a time.
#pragma once

#include <chrono>
#include <optional>

#include "pipeline/build_observer.hpp"
#include "report/rate.hpp"
#include "xtts/builder.hpp"

namespace xtts::request {

class BuildRates {
 public:
  // Counting starts with the first update, where an interrupted build had stopped.
  void update(std::chrono::nanoseconds now, const pipeline::BuildProgress& progress);
  // Of the last update, of which there was one.
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
