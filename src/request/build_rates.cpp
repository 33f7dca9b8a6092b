#include "request/build_rates.hpp"

namespace xtts::request {

void BuildRates::update(std::chrono::nanoseconds now, const pipeline::BuildProgress& progress) {
  if (!rates_) {
    start_ = progress;
    const report::RateEstimator fresh(now);
    rates_ = Rates{.clips = fresh, .sound = fresh, .bytes = fresh};
  }
  last_ = progress;
  rates_->clips.update(now, static_cast<double>(progress.done_count - start_.done_count));
  rates_->sound.update(now, progress.sound_seconds);
  rates_->bytes.update(now, static_cast<double>(progress.source_bytes));
}

BuildProgress BuildRates::shown() const {
  return {.done_count = last_.done_count,
          .total_count = last_.total_count,
          .reject_count = last_.reject_count,
          .clips_per_s = rates_->clips.per_second(),
          .realtime_factor = rates_->sound.per_second(),
          .bytes_per_s = rates_->bytes.per_second(),
          .seconds_left = rates_->clips.seconds_left(
              static_cast<double>(last_.total_count - start_.done_count))};
}

}  // namespace xtts::request
