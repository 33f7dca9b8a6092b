#include "report/progress_meter.hpp"

namespace xtts::report {

void ProgressMeter::update(std::chrono::nanoseconds now, const WorkCounts& counts) {
  if (!rates_) {
    start_ = counts;
    const RateEstimator fresh(now);
    rates_ = Rates{.done = fresh, .sound = fresh, .bytes = fresh};
  }
  last_ = counts;
  rates_->done.update(now, static_cast<double>(counts.done) - static_cast<double>(start_.done));
  rates_->sound.update(now, counts.sound_seconds);
  rates_->bytes.update(now, static_cast<double>(counts.bytes));
}

Progress ProgressMeter::shown() const {
  return {.done = last_.done,
          .total = last_.total,
          .rejects = last_.rejects,
          .per_second = rates_->done.per_second(),
          .realtime_factor = rates_->sound.per_second(),
          .bytes_per_s = rates_->bytes.per_second(),
          .seconds_left = rates_->done.seconds_left(static_cast<double>(last_.total) -
                                                    static_cast<double>(start_.done))};
}

}  // namespace xtts::report
