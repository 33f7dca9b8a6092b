#include "reader/file_ranges.hpp"

#include <algorithm>
#include <tuple>

#include "base/try.hpp"
#include "formats/constants.hpp"

namespace xtts::reader {
namespace {

// A disk skips a smaller gap more slowly than it reads it.
constexpr std::uint64_t kGapBytesMax = std::uint64_t{64} << 10U;

// The slots of one block for consecutive positions.
struct SlotRun {
  std::uint32_t block_row = 0;
  std::uint32_t first_slot = 0;
  std::uint32_t last_slot = 0;
};

Result<std::vector<SlotRun>> find_slot_runs(CacheView& cache, const formats::ColumnSpec& column,
                                            std::uint64_t first_position, std::uint64_t count) {
  std::vector<SlotRun> runs;
  for (std::uint64_t position = first_position; position < first_position + count; ++position) {
    XTTS_ASSIGN(const formats::LocationRow row, cache.location(column.id, position));
    if (row.block_row == formats::kNoRecord) continue;
    if (runs.empty() || runs.back().block_row != row.block_row) {
      runs.push_back({row.block_row, row.slot, row.slot});
    } else {
      runs.back().first_slot = std::min<std::uint32_t>(runs.back().first_slot, row.slot);
      runs.back().last_slot = std::max<std::uint32_t>(runs.back().last_slot, row.slot);
    }
  }
  return runs;
}

}  // namespace

std::vector<FileRange> join_ranges(std::vector<FileRange> ranges) {
  std::ranges::sort(ranges, {}, [](const FileRange& range) {
    return std::tuple(range.shard, range.offset_bytes);
  });
  std::vector<FileRange> joined;
  for (const FileRange& range : ranges) {
    if (!joined.empty() && joined.back().shard == range.shard) {
      FileRange& last = joined.back();
      const std::uint64_t end = last.offset_bytes + last.size_bytes;
      if (range.offset_bytes <= end + kGapBytesMax) {
        last.size_bytes = std::max(end, range.offset_bytes + range.size_bytes) - last.offset_bytes;
        continue;
      }
    }
    joined.push_back(range);
  }
  return joined;
}

Result<std::vector<FileRange>> find_file_ranges(CacheView& cache, const formats::ColumnSpec& column,
                                                std::uint64_t first_position, std::uint64_t count) {
  XTTS_ASSIGN(const auto runs, find_slot_runs(cache, column, first_position, count));
  std::vector<FileRange> ranges;
  for (const SlotRun& run : runs) {
    XTTS_ASSIGN(const formats::BlockRow row, cache.block(column.id, run.block_row));
    ranges.push_back({row.shard, row.place.header_offset, formats::kBlockHeaderBytes});
    std::uint64_t begin = 0;
    std::uint64_t end = row.place.payload_bytes;
    if (column.layout == formats::Layout::kPadded) {
      begin = std::min(run.first_slot * column.record_bytes(), end);
      end = std::min((run.last_slot + std::uint64_t{1}) * column.record_bytes(), end);
    }
    ranges.push_back({row.shard, row.place.payload_offset + begin, end - begin});
  }
  return join_ranges(std::move(ranges));
}

}  // namespace xtts::reader
