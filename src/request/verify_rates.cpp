#include "request/verify_rates.hpp"

namespace xtts::request {

VerifyProgress VerifyRates::update(std::chrono::nanoseconds now, std::uint64_t done,
                                   std::uint64_t total) {
  const std::lock_guard lock(mutex_);
  if (!rate_) rate_.emplace(now);
  rate_->update(now, static_cast<double>(done));
  return {.stage = stage_,
          .done = done,
          .total = total,
          .per_second = rate_->per_second(),
          .seconds_left = rate_->seconds_left(static_cast<double>(total))};
}

}  // namespace xtts::request
