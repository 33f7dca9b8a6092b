// VerifyRates turns counts of one stage of a verify into the figures of its progress line. The
// stage begins with the first count. Any thread may call it.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "report/rate.hpp"
#include "xtts/builder.hpp"

namespace xtts::request {

class VerifyRates {
 public:
  explicit VerifyRates(VerifyStage stage) : stage_(stage) {}

  [[nodiscard]] VerifyProgress update(std::chrono::nanoseconds now, std::uint64_t done,
                                      std::uint64_t total);

 private:
  const VerifyStage stage_;
  std::mutex mutex_;
  std::optional<report::RateEstimator> rate_;  // guarded by mutex_
};

}  // namespace xtts::request
