// shard_scan: the table of a shard from its own bytes, where no index tells it. Block headers and
// facts values lie 16 bytes into pages (cache-v1.md, section 4) and carry their own checks; LMDB's
// pages are never parsed. Whether the table is the shard's shows in its digest, which the caller
// compares. Pure function.
#pragma once

#include <cstddef>
#include <span>

#include "formats/shard_table.hpp"
#include "xtts/status.hpp"

namespace xtts::verify {

// kCorrupt: the regions that were found make no shard.
[[nodiscard]] Result<formats::ShardTable> scan_shard(std::span<const std::byte> bytes);

}  // namespace xtts::verify
