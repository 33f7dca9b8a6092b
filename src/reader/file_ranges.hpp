// Which bytes of which shards hold the records of consecutive positions, from the index alone: for
// whoever wants them read before they are asked for. Pure but for the index. Failures: kNotFound,
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

// Ascending within a shard, with the blocks' headers; what lies within 64 KiB of each other is one
// range. Of packed blocks, whose records the index does not place, the whole payload.
[[nodiscard]] Result<std::vector<FileRange>> find_file_ranges(CacheView& cache,
                                                              const formats::ColumnSpec& column,
                                                              std::uint64_t first_position,
                                                              std::uint64_t count);

// The same ranges, ascending by shard and place, with those joined that touch.
[[nodiscard]] std::vector<FileRange> join_ranges(std::vector<FileRange> ranges);

}  // namespace xtts::reader
