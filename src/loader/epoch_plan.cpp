#include "loader/epoch_plan.hpp"

#include <algorithm>
#include <numeric>

namespace xtts::loader {
namespace {

EpochOrderOptions order_of(EpochOrderOptions order, std::uint64_t epoch) {
  order.epoch = epoch;
  return order;
}

}  // namespace

std::uint64_t Consumed::sample_count() const noexcept {
  return std::accumulate(by_bucket.begin(), by_bucket.end(), place_count);
}

bool Consumed::is_nothing() const noexcept {
  return place_count == 0 && std::ranges::all_of(by_bucket, [](auto count) { return count == 0; });
}

EpochPlan::EpochPlan(const Selection& selection, const EpochPlanOptions& options,
                     std::uint64_t epoch, const Consumed& consumed, std::uint64_t first_step,
                     std::span<const std::uint64_t> rejected)
    : sequence_(selection, options.groups, order_of(options.order, epoch)),
      epoch_(epoch),
      first_step_(first_step),
      is_whole_(consumed.is_nothing()),
      steps_{.sample_count = options.order.sample_count,
             .first_place = consumed.place_count,
             .batch_size = options.batch_sizes.front(),
             .world_size = options.world_size,
             .last = options.last} {
  if (!options.has_buckets) {
    if (steps_.world_size == 1) {
      pass_over(rejected);
    } else {
      rejected_.assign(rejected.begin(), rejected.end());
    }
    return;
  }
  buckets_.emplace(sequence_, options.bucket_of_sample,
                   BucketStepsOptions{.batch_sizes = options.batch_sizes,
                                      .consumed = consumed.by_bucket,
                                      .world_size = options.world_size,
                                      .last = options.last});
}

bool EpochPlan::is_rejected(std::uint64_t place,
                            std::span<const std::uint64_t> rejected) const noexcept {
  return std::ranges::binary_search(rejected, sequence_.position_at(place));
}

// Goes over the whole epoch, but only where a clip is rejected at all.
void EpochPlan::pass_over(std::span<const std::uint64_t> rejected) {
  if (rejected.empty()) return;
  for (std::uint64_t place = 0; place < steps_.sample_count; ++place) {
    if (!is_rejected(place, rejected)) continue;
    ++rejected_count_;
    if (place >= steps_.first_place) passed_over_.push_back(place - steps_.first_place);
  }
}

// `kept` counts places from first_place on, without those that are passed over.
std::uint64_t EpochPlan::place_of_kept(std::uint64_t kept) const noexcept {
  std::uint64_t before = 0;  // places that are passed over before it: a binary search finds them
  std::uint64_t end = passed_over_.size();
  while (before < end) {
    const std::uint64_t middle = before + (end - before) / 2;
    if (passed_over_[middle] - middle <= kept) {
      before = middle + 1;
    } else {
      end = middle;
    }
  }
  return steps_.first_place + kept + before;
}

std::uint64_t EpochPlan::steps_of(std::uint64_t first_place,
                                  std::uint64_t passed_over) const noexcept {
  Steps steps = steps_;
  steps.first_place = first_place;
  steps.sample_count -= passed_over;
  return steps.step_count();
}

std::uint64_t EpochPlan::step_count() const noexcept {
  return buckets_ ? buckets_->step_count() : steps_of(steps_.first_place, passed_over_.size());
}

std::uint64_t EpochPlan::whole_step_count() const noexcept {
  return buckets_ ? buckets_->whole_step_count() : steps_of(0, rejected_count_);
}

std::uint64_t EpochPlan::first_place() const noexcept {
  return buckets_ ? buckets_->first_place() : steps_.first_place;
}

std::uint8_t EpochPlan::bucket_of(std::uint64_t step) const noexcept {
  return buckets_ ? buckets_->bucket_of(step - first_step_) : std::uint8_t{0};
}

void EpochPlan::find_places(std::uint64_t step, std::uint32_t rank,
                            std::vector<std::uint64_t>& places) const {
  if (buckets_) {
    const auto found = buckets_->places_of(step - first_step_, rank);
    places.assign(found.begin(), found.end());
    return;
  }
  if (!passed_over_.empty()) return find_kept(step - first_step_, places);
  const PlaceRange found = steps_.places_of(step - first_step_, rank);
  places.resize(found.count);
  std::iota(places.begin(), places.end(), found.first);
  if (rejected_.empty()) return;
  std::erase_if(places, [&](std::uint64_t place) { return is_rejected(place, rejected_); });
}

void EpochPlan::find_kept(std::uint64_t step, std::vector<std::uint64_t>& places) const {
  places.clear();
  if (step >= step_count()) return;
  for (std::uint64_t row = 0; row < steps_.batch_size; ++row) {
    const std::uint64_t place = place_of_kept(step * steps_.batch_size + row);
    if (place >= steps_.sample_count) return;
    places.push_back(place);
  }
}

Consumed EpochPlan::consumed_after(std::uint64_t step_count) const {
  if (buckets_) return {.place_count = 0, .by_bucket = buckets_->consumed_after(step_count)};
  std::uint64_t place = steps_.place_after(step_count);
  if (!passed_over_.empty()) {
    place = step_count < this->step_count() ? place_of_kept(step_count * steps_.batch_size)
                                            : steps_.sample_count;
  }
  return {.place_count = std::min(place, steps_.sample_count), .by_bucket = {}};
}

}  // namespace xtts::loader
