// What tables of clips are together. Pure, except that groups of clips are read from a plan.
// Failures: kMismatch (they do not go together), kUnsupported (more names than numbers), and those
// of reading a plan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/set_manifest.hpp"
#include "reader/clip_table.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

// The manifest of a cache that held the clips of all tables: names and columns joined, counts added
// up, without shards and an index. It has statistics where all tables have the same.
// `names`: by table, the data set of clips that name none; empty where they stay without.
[[nodiscard]] Result<formats::Manifest> whole_of(std::span<const std::shared_ptr<ClipTable>> tables,
                                                 std::span<const std::string> names);

// True where one batch can hold records of both columns.
[[nodiscard]] bool has_same_numbers(const formats::ColumnSpec& a, const formats::ColumnSpec& b);

// The place in `names` of each name of a table; empty where the table has the same list.
[[nodiscard]] std::vector<std::int32_t> numbers_in(std::span<const std::string> names,
                                                   std::span<const std::string> of_table);

// The groups of the table's clips, by its own numbers.
[[nodiscard]] Result<std::vector<formats::ClipGroup>> groups_of(ClipTable& table);

// The data sets of a table, where clips without one have `name`.
[[nodiscard]] std::vector<std::string> named_datasets(const formats::Manifest& manifest,
                                                      const std::string& name);

}  // namespace xtts::reader
