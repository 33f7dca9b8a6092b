// include/xtts/order.hpp on Steps.
#include "base/formatted.hpp"
#include "xtts/order.hpp"

#include <string>

#include "api/reader/public_cache.hpp"
#include "base/counted.hpp"
#include "base/try.hpp"
#include "loader/epoch_order.hpp"
#include "loader/steps.hpp"

namespace xtts {
namespace {

Status check_epoch_batches(const EpochBatches& epoch) {
  const auto refuse = [](std::string message) {
    return Status(StatusCode::kInvalidArgument, std::move(message));
  };
  if (epoch.last > LastBatch::kPad) return refuse("last has a value that LastBatch does not have");
  if (epoch.batch_size == 0) return refuse("batch_size must be at least 1");
  if (epoch.world_size == 0) return refuse("world_size must be at least 1");
  if (epoch.rank >= epoch.world_size) {
    return refuse(
        formatted("rank is {}, but ranks go from 0 to {}", epoch.rank, epoch.world_size - 1));
  }
  if (epoch.sample_count > loader::kOrderSizeMax)
    return refuse("sample_count must be at most 2^48");
  if (epoch.first_place > epoch.sample_count) {
    return refuse(formatted("first_place is {}, and an epoch has {}", epoch.first_place,
                            counted(epoch.sample_count, "place", "places")));
  }
  return {};
}

}  // namespace

Result<std::uint64_t> count_batches(const EpochBatches& epoch) {
  return api::guarded([&]() -> Result<std::uint64_t> {
    XTTS_TRY(check_epoch_batches(epoch));
    return loader::Steps{.sample_count = epoch.sample_count,
                         .first_place = epoch.first_place,
                         .batch_size = epoch.batch_size,
                         .world_size = epoch.world_size,
                         .last = epoch.last}
        .step_count();
  });
}

}  // namespace xtts
