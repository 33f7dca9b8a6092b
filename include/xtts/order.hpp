// The order in which readers give samples (Order v1, formats/order-v1.md), for whoever makes
// batches of something else in the same order: which samples a rank's batch holds, from the seed
// and the epoch's number, without going through those before it. Part of libxtts_reader.so.
//
// Pure functions, any thread. A Reader of the same options over a selection of as many clips gives
// the same batches.
#pragma once

#include <cstdint>
#include <vector>

#include "xtts/batch.hpp"
#include "xtts/export.hpp"
#include "xtts/status.hpp"

namespace xtts {

struct EpochBatches {
  std::uint64_t sample_count = 0;      // over all ranks, 2^48 at most
  Shuffle shuffle = Shuffle::kGlobal;  // kWindow goes by what lies together in a cache: not here
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint32_t batch_size = 1;  // of one rank
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  LastBatch last = LastBatch::kDrop;
  std::uint64_t first_place = 0;  // of the batches: who goes on has taken those before
};

// Of a rank, in an epoch. kInvalidArgument for options that cannot be.
[[nodiscard]] XTTS_API Result<std::uint64_t> count_batches(const EpochBatches& epoch);
// Of the batch with this number, from 0: numbers below sample_count, in the order of its rows.
// Fewer than batch_size, perhaps none, in a padded last batch. kNotFound: the epoch has no such
// batch.
[[nodiscard]] XTTS_API Result<std::vector<std::uint64_t>> samples_of_batch(
    const EpochBatches& epoch, std::uint64_t batch);

}  // namespace xtts
