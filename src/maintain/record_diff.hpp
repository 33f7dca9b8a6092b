// Measures how far the numbers of one clip in one column lie apart in two caches. It looks only at
// true rows, so padded and packed records compare. It widens float16 and bfloat16, which is exact.
// Pure functions over checked copies.
#pragma once

#include <cstdint>
#include <optional>

#include "reader/cache_view.hpp"

namespace xtts::maintain {

struct RecordDifference {
  std::uint32_t length_a = 0;  // true rows
  std::uint32_t length_b = 0;
  bool fills_differ = false;          // the reader's padding values differ
  std::uint64_t value_count = 0;      // of the rows that both have
  std::uint64_t differing_count = 0;  // of those values
  // Infinite if a number stands against NaN or infinity.
  double max_abs = 0.0;
  double sum_abs = 0.0;
  std::uint32_t row = 0;      // of the first value that is off by max_abs
  std::uint32_t channel = 0;  // its place within the row

  [[nodiscard]] double mean_abs() const noexcept {
    return value_count == 0 ? 0.0 : sum_abs / static_cast<double>(value_count);
  }
  // True where only numbers differ, all of them within `tolerance`.
  [[nodiscard]] bool is_within(double tolerance) const noexcept {
    return length_a == length_b && !fills_differ && max_abs <= tolerance;
  }
};

[[nodiscard]] std::uint64_t value_count(const reader::RecordData& record) noexcept;

// Rows of both must have the same shape, and both dtypes must be floats, or both integers. Returns
// nothing if the records are the same: bit for bit if the dtypes are the same, else number for
// number.
[[nodiscard]] std::optional<RecordDifference> compare_records(const reader::RecordData& a,
                                                              const reader::RecordData& b);

}  // namespace xtts::maintain
