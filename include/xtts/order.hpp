// count_batches() tells how many batches a reader gives (Order v1, formats/order-v1.md), for a
// consumer that has no Reader of its rank and place yet. Part of libxtts_reader.so.
//
// A pure function, for any thread. The number equals that of a Reader with the same options and
// number of clips.
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
  std::uint64_t first_place = 0;  // samples consumed before, by all ranks
};

// The number of batches of a rank in an epoch. kInvalidArgument: invalid options.
[[nodiscard]] XTTS_API Result<std::uint64_t> count_batches(const EpochBatches& epoch);

}  // namespace xtts
