// Sums for the statistics, over a record's stored values and over a block's records. The stored
// values are enough to make the sums again. The order of adding is fixed, so a build, a copy, and a
// repair that makes a block again get the same bits. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/exact_sum.hpp"
#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "xtts/dtype.hpp"

namespace xtts::dsp {

// Writes into `sums` the sum of each channel, then the sum of squares of each channel, frame by
// frame. `rows` are whole frames of float32, float16 or bfloat16.
void sum_channels(std::span<const std::byte> rows, DType dtype, std::size_t channel_count,
                  std::vector<double>& sums);

// Adds a record's sums to its block's sums; a record without sums (it has no channels) adds
// nothing.
void add_sums(const std::vector<double>& sums, std::uint32_t frame_count,
              formats::BlockFacts& block);

// The sums of blocks, without rounding: so caches that were built apart have the statistics of one
// that holds all their blocks, to the bit.
struct TotalSums {
  std::uint64_t frame_count = 0;
  std::vector<ExactSum> sums;  // as of sum_channels()

  void add(const formats::BlockFacts& block);
  // Frames and sums of a cache's statistics. False: it has none, or other channels.
  [[nodiscard]] bool add(const formats::Statistics& statistics);
};

// Returns nothing if there are no frames, or if a sum is not finite.
[[nodiscard]] std::optional<formats::Statistics> statistics_of(const TotalSums& totals);

}  // namespace xtts::dsp
