// Which samples a batch holds, as include/xtts/order.hpp has it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.hpp"
#include "python/errors.hpp"
#include "xtts/order.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

EpochBatches epoch_batches(std::uint64_t sample_count, bool is_shuffled, std::uint64_t seed,
                           std::uint64_t epoch, std::uint32_t batch_size, std::uint32_t rank,
                           std::uint32_t world_size, bool drop_last, std::uint64_t first_place) {
  return {.sample_count = sample_count,
          .shuffle = is_shuffled ? Shuffle::kGlobal : Shuffle::kNone,
          .seed = seed,
          .epoch = epoch,
          .batch_size = batch_size,
          .rank = rank,
          .world_size = world_size,
          .last = drop_last ? LastBatch::kDrop : LastBatch::kPad,
          .first_place = first_place};
}

}  // namespace

void bind_order(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def(
      "count_batches",
      [](std::uint64_t sample_count, std::uint32_t batch_size, std::uint32_t rank,
         std::uint32_t world_size, bool drop_last, std::uint64_t first_place) {
        return must(count_batches(epoch_batches(sample_count, false, 0, 0, batch_size, rank,
                                                world_size, drop_last, first_place)));
      },
      nb::kw_only(), "sample_count"_a, "batch_size"_a, "rank"_a, "world_size"_a, "drop_last"_a,
      "first_place"_a = 0, "Batches of a rank in an epoch, from a place on.");
  module.def(
      "samples_of_batch",
      [](std::uint64_t batch, std::uint64_t sample_count, bool is_shuffled, std::uint64_t seed,
         std::uint64_t epoch, std::uint32_t batch_size, std::uint32_t rank,
         std::uint32_t world_size, bool drop_last, std::uint64_t first_place) {
        return must(
            samples_of_batch(epoch_batches(sample_count, is_shuffled, seed, epoch, batch_size, rank,
                                           world_size, drop_last, first_place),
                             batch));
      },
      "batch"_a, nb::kw_only(), "sample_count"_a, "is_shuffled"_a, "seed"_a, "epoch"_a,
      "batch_size"_a, "rank"_a, "world_size"_a, "drop_last"_a, "first_place"_a = 0,
      "The samples of a rank's batch, by their numbers, in Order v1.");
}

}  // namespace xtts::python
