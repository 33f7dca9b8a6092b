// Binds count_batches() of include/xtts/order.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "python/bindings.hpp"
#include "python/errors.hpp"
#include "xtts/order.hpp"

namespace xtts::python {

namespace nb = nanobind;

void bind_order(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def(
      "count_batches",
      [](std::uint64_t sample_count, std::uint32_t batch_size, std::uint32_t rank,
         std::uint32_t world_size, bool drop_last, std::uint64_t first_place) {
        return must(count_batches({.sample_count = sample_count,
                                   .batch_size = batch_size,
                                   .rank = rank,
                                   .world_size = world_size,
                                   .last = drop_last ? LastBatch::kDrop : LastBatch::kPad,
                                   .first_place = first_place}));
      },
      nb::kw_only(), "sample_count"_a, "batch_size"_a, "rank"_a, "world_size"_a, "drop_last"_a,
      "first_place"_a = 0, "How many batches a rank gets in an epoch, from a place on.");
}

}  // namespace xtts::python
