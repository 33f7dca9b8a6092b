// The index of a cache once more, with one column more or another: all other sections are copied as
// they are, through their checks. Memory: a piece of 1 MiB. Sets `manifest`'s index.
#pragma once

#include <cstdint>

#include "formats/manifest.hpp"
#include "pipeline/column_rows.hpp"
#include "reader/cache_view.hpp"
#include "store/cache_folder.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

// `keeps_tombstones`: those of the column stay, for its shards do.
[[nodiscard]] Status write_extended_index(reader::CacheView& view, std::uint32_t column,
                                          bool keeps_tombstones, const pipeline::ColumnRows& rows,
                                          store::CacheFolder& folder, formats::Manifest& manifest);

}  // namespace xtts::maintain
