// The columns that a build writes, as its recipe shapes them. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/block.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::records {

// Of the first of a cache's columns: its shards hold the facts of the sound, those of the others
// only whose record it is.
constexpr std::uint32_t kMainId = 0;

// Those that are computed from sound, in the order of their numbers: without the digests of how
// they are made, which take JSON texts, and so memory.
[[nodiscard]] std::vector<formats::ColumnSpec> sound_column_forms(const formats::Recipe& recipe);
[[nodiscard]] std::vector<formats::ColumnSpec> sound_columns(const formats::Recipe& recipe,
                                                             const formats::Numerics& numerics);
[[nodiscard]] formats::ColumnSpec tokens_column(const formats::Recipe& recipe,
                                                const formats::Numerics& numerics);

// They end their shards together, after so many planned clips: what is sealed of one is sealed of
// all.
[[nodiscard]] std::uint64_t clips_per_shard(std::span<const formats::ColumnSpec> sound_columns);

// Whether sums are kept of the column's values, for the statistics.
[[nodiscard]] bool has_sums(const formats::ColumnSpec& column);

// What the manifest says of a column, but for its shards.
[[nodiscard]] formats::ColumnEntry entry_of(const formats::ColumnSpec& column,
                                            const formats::Recipe& recipe);

}  // namespace xtts::records
