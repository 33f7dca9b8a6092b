// Sums for the statistics: per channel of a record's stored values, so that whoever has the record
// has them too. Pure function.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "xtts/dtype.hpp"

namespace xtts::pipeline {

// Into `sums` per channel the sum, then per channel the sum of squares, frame by frame: the order
// is fixed, so the bits are. `rows` are whole frames of float32, float16 or bfloat16.
void sum_channels(std::span<const std::byte> rows, DType dtype, std::size_t channel_count,
                  std::vector<double>& sums);

}  // namespace xtts::pipeline
