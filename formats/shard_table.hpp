// The table of a shard's checked regions, and the shard's digest (cache-v1.md, section 7). Pure
// functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "formats/storage_config.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// The place of a block in its shard's file, and the checks that its header and facts must carry.
struct BlockPlace {
  std::uint64_t header_offset = 0;
  std::uint64_t payload_offset = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t facts_offset = 0;
  std::uint64_t facts_bytes = 0;
  std::uint64_t header_check = 0;
  std::uint64_t facts_check = 0;
  std::uint16_t record_count = 0;  // not in the digest: the header's check covers it

  friend bool operator==(const BlockPlace&, const BlockPlace&) = default;
};

struct ShardTable {
  std::uint64_t file_bytes = 0;
  std::uint64_t structure_check = 0;
  std::vector<BlockPlace> blocks;

  [[nodiscard]] Digest digest() const;
  // kCorrupt if a region lies outside the file, overlaps another, or is not where the store puts
  // it (sections 4 and 4b).
  [[nodiscard]] Status validate(StoreKind store) const;
};

// A range of a file: [offset, offset + size).
struct ByteRange {
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
};

// Returns the ranges that no header, payload or facts value covers, in ascending order. The table
// must be valid.
[[nodiscard]] std::vector<ByteRange> structure_ranges(const ShardTable& table);

}  // namespace xtts::formats
