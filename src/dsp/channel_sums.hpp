// Sums for the statistics: over a record's stored values, so that whoever has the record has them
// too, and over a block's records. Always in the same order, so that the bits are the same whoever
// adds: a build, a copy, or a repair that makes a block again. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "xtts/dtype.hpp"

namespace xtts::dsp {

// Into `sums` per channel the sum, then per channel the sum of squares, frame by frame. `rows` are
// whole frames of float32, float16 or bfloat16.
void sum_channels(std::span<const std::byte> rows, DType dtype, std::size_t channel_count,
                  std::vector<double>& sums);

// A record's sums into its block's; a record without sums (it has no channels) adds nothing.
void add_sums(const std::vector<double>& sums, std::uint32_t frame_count,
              formats::BlockFacts& block);

// From per channel sums, then per channel sums of squares; nothing where there are no frames,
// or where a sum is not finite.
[[nodiscard]] std::optional<formats::Statistics> statistics_of(std::uint64_t frame_count,
                                                               std::span<const double> sums);

}  // namespace xtts::dsp
