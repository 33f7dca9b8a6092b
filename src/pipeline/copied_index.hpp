// Writes the index of a published cache again, with other shards of some columns. All other
// sections are copied unchanged, after their checks. Memory: a piece of 1 MiB. One thread at a
// time. Failures: kCorrupt (a damaged section), and those of the folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "pipeline/column_rows.hpp"
#include "pipeline/tombstones.hpp"
#include "store/cache_folder.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

struct CopiedIndex {
  // By column id; a column that is new to the index follows the others.
  std::map<std::uint32_t, ColumnRows> columns;
  Tombstones tombstones;  // of all columns
};

// `before` is the published manifest. `manifest` will be published; it gets the new index's size
// and digest.
[[nodiscard]] Status write_copied_index(Env& env, const formats::Manifest& before,
                                        const CopiedIndex& changes, store::CacheFolder& folder,
                                        formats::Manifest& manifest);

}  // namespace xtts::pipeline
