// Compares a stored record with the same record made again. Pure functions; share freely.
//
// Where numerics are the same, every bit must be the same. Where they differ, a value may differ
// by the recipe's tolerance. The goldens hold every instruction set within 1e-5 natural-log units
// of the formula where the FFT runs in double precision (tests/golden/recipes), and float32 FFTs
// within 1.3e-3. Two instruction sets are at most twice that apart, and the dtype rounds each
// result once more. Values of a baked cache are compared in their state before baking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "formats/block.hpp"
#include "formats/facts.hpp"
#include "formats/recipe_fwd.hpp"
#include "verify/evidence.hpp"
#include "verify/stored_records.hpp"

namespace xtts::verify {

// A record made again.
struct ExpectedRecord {
  std::uint32_t length = 0;
  std::uint32_t fill_bits = 0;
  std::span<const std::byte> rows;
  const formats::RecordFacts& facts;
};

struct Difference {
  std::string part;                           // "length", "value", "source rate"
  std::optional<std::uint64_t> offset_bytes;  // in the shard's file
  Evidence expected;
  Evidence found;
  // Other numerics moved the sound itself, so no two values can be compared.
  bool is_beyond_comparison = false;
};

// `tags` are the facts that were made again.
[[nodiscard]] std::optional<Difference> compare_bits(const ExpectedRecord& expected,
                                                     const StoredRecord& stored,
                                                     const std::set<std::uint16_t>& tags);

struct Tolerance {
  double absolute = 0.0;  // in units of the values that the recipe's chain makes
  double relative = 0.0;
  // Baking stretches each channel's differences by its own deviation, and rounds again.
  std::vector<double> baked_mean = {};  // one a channel; empty: nothing is baked
  std::vector<double> baked_deviation = {};
  double relative_baked = 0.0;
};

// Returns the tolerance for two values of the column that different processors or libraries
// computed by this recipe.
[[nodiscard]] Tolerance tolerance_of(const formats::Recipe& recipe,
                                     const formats::ColumnSpec& column);

// A length, a trim or a source length that differs by more than a frame is a difference. If the
// trim moved within a frame, the values are not compared, because they belong to another frame.
[[nodiscard]] std::optional<Difference> compare_within(const Tolerance& tolerance,
                                                       const formats::ColumnSpec& column,
                                                       const ExpectedRecord& expected,
                                                       const StoredRecord& stored,
                                                       const formats::Recipe& recipe);

}  // namespace xtts::verify
