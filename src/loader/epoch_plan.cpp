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
                     std::uint64_t epoch, const Consumed& consumed, std::uint64_t first_step)
    : sequence_(selection, options.groups, order_of(options.order, epoch)),
      epoch_(epoch),
      first_step_(first_step),
      is_whole_(consumed.is_nothing()),
      steps_{.sample_count = options.order.sample_count,
             .first_place = consumed.place_count,
             .batch_size = options.batch_sizes.front(),
             .world_size = options.world_size,
             .last = options.last} {
  if (!options.has_buckets) return;
  buckets_.emplace(sequence_, options.bucket_of_sample,
                   BucketStepsOptions{.batch_sizes = options.batch_sizes,
                                      .consumed = consumed.by_bucket,
                                      .world_size = options.world_size,
                                      .last = options.last});
}

std::uint64_t EpochPlan::step_count() const noexcept {
  return buckets_ ? buckets_->step_count() : steps_.step_count();
}

std::uint64_t EpochPlan::whole_step_count() const noexcept {
  if (buckets_) return buckets_->whole_step_count();
  Steps whole = steps_;
  whole.first_place = 0;
  return whole.step_count();
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
  const PlaceRange found = steps_.places_of(step - first_step_, rank);
  places.resize(found.count);
  std::iota(places.begin(), places.end(), found.first);
}

Consumed EpochPlan::consumed_after(std::uint64_t step_count) const {
  if (buckets_) return {.place_count = 0, .by_bucket = buckets_->consumed_after(step_count)};
  return {.place_count = steps_.place_after(step_count), .by_bucket = {}};
}

}  // namespace xtts::loader
