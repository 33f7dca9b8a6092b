// The columns that a build writes, as its recipe shapes them. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/block.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::records {

// The id of a cache's first column. Its shards hold the facts of the sound; the shards of other
// columns say only whose record it is.
constexpr std::uint32_t kMainId = 0;

// Returns the columns that are computed from sound, in the order of their numbers. It leaves out
// the digests of how they are made, which need JSON texts and therefore memory.
[[nodiscard]] std::vector<formats::ColumnSpec> sound_column_forms(const formats::Recipe& recipe);
[[nodiscard]] std::vector<formats::ColumnSpec> sound_columns(const formats::Recipe& recipe,
                                                             const formats::Numerics& numerics);
[[nodiscard]] formats::ColumnSpec tokens_column(const formats::Recipe& recipe,
                                                const formats::Numerics& numerics);

// The number of planned clips after which all sound columns end their shards together: a clip
// sealed in one column is sealed in all.
[[nodiscard]] std::uint64_t clips_per_shard(std::span<const formats::ColumnSpec> sound_columns);

// True where the column keeps sums of its values, for the statistics.
[[nodiscard]] bool has_sums(const formats::ColumnSpec& column);

// Makes the column's entry in the manifest, without its shards.
[[nodiscard]] formats::ColumnEntry entry_of(const formats::ColumnSpec& column,
                                            const formats::Recipe& recipe);

}  // namespace xtts::records
