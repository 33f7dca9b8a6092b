// include/xtts/order.hpp on EpochOrder and Steps.
#include "xtts/order.hpp"

#include <string>

#include "api/reader/public_cache.hpp"
#include "base/try.hpp"
#include "loader/epoch_order.hpp"
#include "loader/steps.hpp"

namespace xtts {
namespace {

Status check_epoch_batches(const EpochBatches& epoch) {
  const auto refuse = [](std::string message) {
    return Status(StatusCode::kInvalidArgument, std::move(message));
  };
  if (epoch.shuffle > Shuffle::kWindow || epoch.last > LastBatch::kPad)
    return refuse("shuffle or last has a value that there is not");
  if (epoch.batch_size == 0) return refuse("batch_size must be at least 1");
  if (epoch.world_size == 0) return refuse("world_size must be at least 1");
  if (epoch.rank >= epoch.world_size) {
    return refuse("rank is " + std::to_string(epoch.rank) + ", but ranks go from 0 to " +
                  std::to_string(epoch.world_size - 1));
  }
  if (epoch.sample_count > loader::kOrderSizeMax) return refuse("2^48 samples are the most");
  if (epoch.first_place > epoch.sample_count) {
    return refuse("first_place is " + std::to_string(epoch.first_place) + ", and an epoch has " +
                  std::to_string(epoch.sample_count) + " places");
  }
  if (epoch.shuffle == Shuffle::kWindow) {
    return refuse("shuffle window goes by what lies together in a cache: take global or none");
  }
  return {};
}

loader::Steps steps_of(const EpochBatches& epoch) {
  return {.sample_count = epoch.sample_count,
          .first_place = epoch.first_place,
          .batch_size = epoch.batch_size,
          .world_size = epoch.world_size,
          .last = epoch.last};
}

}  // namespace

Result<std::uint64_t> count_batches(const EpochBatches& epoch) {
  return api::guarded([&]() -> Result<std::uint64_t> {
    XTTS_TRY(check_epoch_batches(epoch));
    return steps_of(epoch).step_count();
  });
}

Result<std::vector<std::uint64_t>> samples_of_batch(const EpochBatches& epoch,
                                                    std::uint64_t batch) {
  return api::guarded([&]() -> Result<std::vector<std::uint64_t>> {
    XTTS_TRY(check_epoch_batches(epoch));
    const loader::Steps steps = steps_of(epoch);
    if (batch >= steps.step_count()) {
      return Status(StatusCode::kNotFound, "there is no batch " + std::to_string(batch) +
                                               ": the epoch has " +
                                               std::to_string(steps.step_count()));
    }
    const loader::EpochOrder order({.sample_count = epoch.sample_count,
                                    .shuffle = epoch.shuffle,
                                    .seed = epoch.seed,
                                    .epoch = epoch.epoch});
    const loader::PlaceRange places = steps.places_of(batch, epoch.rank);
    std::vector<std::uint64_t> samples;
    samples.reserve(places.count);
    for (std::uint64_t place = places.first; place < places.first + places.count; ++place)
      samples.push_back(order.sample_at(place));
    return samples;
  });
}

}  // namespace xtts
