// Steps: which rank takes which places of an epoch. A step is one batch for every rank; steps are
// cut from the epoch's sequence in turn (formats/order-v1.md). All ranks take the same number of
// steps. No rank depends on what others do. The places that are left after some steps can be cut
// anew for another number of ranks or another batch size.
//
// Pure arithmetic without overflow. Immutable, share freely. Nothing fails: where batches have no
// samples, or there are no ranks, there are no steps.
#pragma once

#include <cstdint>

#include "xtts/batch.hpp"

namespace xtts::loader {

// Consecutive places.
struct PlaceRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  friend bool operator==(const PlaceRange&, const PlaceRange&) = default;
};

struct Steps {
  std::uint64_t sample_count = 0;  // of the whole epoch, at most kOrderSizeMax
  std::uint64_t first_place = 0;   // an earlier run took the places before this one
  std::uint32_t batch_size = 1;    // of one rank
  std::uint32_t world_size = 1;
  LastBatch last = LastBatch::kDrop;

  [[nodiscard]] std::uint64_t step_count() const noexcept;
  // The places of a rank below world_size. Never beyond sample_count; empty from step_count() on.
  [[nodiscard]] PlaceRange places_of(std::uint64_t step, std::uint32_t rank) const noexcept;
  // The `first_place` of a run that continues after all ranks have taken the steps below `step`.
  [[nodiscard]] std::uint64_t place_after(std::uint64_t step) const noexcept;
};

}  // namespace xtts::loader
