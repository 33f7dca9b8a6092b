// The record of one clip in one column, before it is stored or after it was computed for a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace xtts {

struct RecordRows {
  std::uint32_t length = 0;          // true rows, of axis 0
  std::uint32_t fill_bits = 0;       // the number of the padding behind them: float32 or int32 bits
  std::vector<std::byte> rows = {};  // the true rows alone, C order, in the column's dtype
};

}  // namespace xtts
