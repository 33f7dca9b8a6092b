// The constants of cache format version 1 (cache-v1.md, section 3). Changing one is a new format.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace xtts::formats {

inline constexpr std::uint16_t kFormatVersion = 1;
inline constexpr std::uint32_t kByteOrderMark = 0x01020304;
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kLmdbPageHeaderBytes = 16;
inline constexpr std::size_t kBlockHeaderBytes = kPageBytes - kLmdbPageHeaderBytes;
inline constexpr std::size_t kBlockTargetBytes = std::size_t{8} << 20U;
inline constexpr std::size_t kShardTargetBytes = std::size_t{128} << 20U;
inline constexpr std::size_t kRecordBytesMax = std::size_t{128} << 20U;
inline constexpr std::size_t kBlockRecordsMax = 64;
inline constexpr std::size_t kPackedAlignmentBytes = 64;
inline constexpr std::size_t kLmdbMapBytes = std::size_t{1} << 30U;
inline constexpr std::size_t kShardBytesMax = std::size_t{1} << 30U;
inline constexpr std::size_t kHdf5PayloadOffset = 16384;
inline constexpr std::size_t kIndexChunkBytes = 65536;
inline constexpr std::size_t kRankMax = 4;

// The number of records in a block and of planned clips in a shard, for a column of `record_bytes`
// a record.
struct Geometry {
  std::uint32_t records_per_block = 1;
  std::uint32_t blocks_per_shard = 1;
  [[nodiscard]] constexpr std::uint64_t clips_per_shard() const noexcept {
    return std::uint64_t{records_per_block} * blocks_per_shard;
  }
};

[[nodiscard]] constexpr Geometry geometry_of(std::uint64_t record_bytes) noexcept {
  const std::uint64_t size = std::max<std::uint64_t>(record_bytes, 1);
  const std::uint64_t records =
      std::clamp<std::uint64_t>(kBlockTargetBytes / size, 1, kBlockRecordsMax);
  const std::uint64_t blocks = std::max<std::uint64_t>(kShardTargetBytes / (records * size), 1);
  return {static_cast<std::uint32_t>(records), static_cast<std::uint32_t>(blocks)};
}

}  // namespace xtts::formats
