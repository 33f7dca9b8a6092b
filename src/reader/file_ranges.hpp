// Finds the bytes of the shards that hold the records of consecutive positions, from the index
// alone, so that they can be read in advance. Pure except for the index. Failures: kNotFound,
// kCorrupt, kResource.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/cache_view.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

struct FileRange {
  std::uint32_t shard = 0;
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;

  friend bool operator==(const FileRange&, const FileRange&) = default;
};

// Ranges ascend within a shard and include the blocks' headers. Ranges less than 64 KiB apart
// become one. The index does not place records of packed blocks; these give their whole payload.
[[nodiscard]] Result<std::vector<FileRange>> find_file_ranges(CacheView& cache,
                                                              const formats::ColumnSpec& column,
                                                              std::uint64_t first_position,
                                                              std::uint64_t count);

// Sorts ranges by shard and place, and joins those that touch.
[[nodiscard]] std::vector<FileRange> join_ranges(std::vector<FileRange> ranges);

}  // namespace xtts::reader
