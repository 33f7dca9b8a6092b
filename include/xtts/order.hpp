// How many batches readers give (Order v1, formats/order-v1.md), for a consumer that has no reader
// of its own rank and place yet. Part of libxtts_reader.so.
//
// A pure function, any thread. A Reader of the same options over a selection of as many clips gives
// as many batches.
#pragma once

#include <cstdint>

#include "xtts/batch.hpp"
#include "xtts/export.hpp"
#include "xtts/status.hpp"

namespace xtts {

struct EpochBatches {
  std::uint64_t sample_count = 0;  // over all ranks, 2^48 at most
  std::uint32_t batch_size = 1;    // of one rank
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  LastBatch last = LastBatch::kDrop;
  std::uint64_t first_place = 0;  // of the batches: who goes on has taken those before
};

// Of a rank, in an epoch. kInvalidArgument for options that cannot be.
[[nodiscard]] XTTS_API Result<std::uint64_t> count_batches(const EpochBatches& epoch);

}  // namespace xtts
