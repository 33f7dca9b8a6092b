// Sums for the statistics, over a record's true frames and over a block's records. Always in the
// same order, so that the bits are the same whoever adds: a build, or a repair that makes a block
// again. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/facts.hpp"

namespace xtts::pipeline {

// Per channel the sum, then per channel the sum of squares, frame by frame. `frames` is
// [frames, channels].
void sum_channels(std::span<const float> frames, std::size_t channels, std::vector<double>& sums);

// A record's sums into its block's; a record without sums (it has no channels) adds nothing.
void add_sums(const std::vector<double>& sums, std::uint32_t frame_count,
              formats::BlockFacts& block);

}  // namespace xtts::pipeline
