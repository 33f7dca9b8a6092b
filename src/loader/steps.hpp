// Who takes which places of an epoch: steps of one batch a rank, cut from the epoch's sequence in
// turn (formats/order-v1.md). All ranks take the same number of steps. Nothing depends on what
// other ranks do, and the places that are left after some steps can be cut anew for another number
// of ranks or another size of batch.
//
// Pure arithmetic without overflow; immutable, share freely. Nothing fails: batches of no samples
// or a world without ranks have no steps.
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
  std::uint64_t first_place = 0;   // those before were taken by an earlier run
  std::uint32_t batch_size = 1;    // of one rank
  std::uint32_t world_size = 1;
  LastBatch last = LastBatch::kDrop;

  [[nodiscard]] std::uint64_t step_count() const noexcept;
  // Of a rank below world_size. Empty from step_count() on, and never beyond sample_count.
  [[nodiscard]] PlaceRange places_of(std::uint64_t step, std::uint32_t rank) const noexcept;
  // The `first_place` of a run that goes on where all ranks have taken the steps below `step`.
  [[nodiscard]] std::uint64_t place_after(std::uint64_t step) const noexcept;
};

}  // namespace xtts::loader
