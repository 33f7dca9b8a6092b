// shard_scan: the table of a shard from its own bytes, where no index tells it. Block headers and
// facts values carry their own checks and lie where cache-v1.md, sections 4 and 4b, say; neither
// LMDB's pages nor HDF5's objects are ever parsed. Whether the table is the shard's shows in its
// digest, which the caller compares. Pure function.
#pragma once

#include <cstddef>
#include <span>

#include "formats/shard_table.hpp"
#include "formats/storage_config.hpp"
#include "xtts/status.hpp"

namespace xtts::verify {

// kCorrupt: the regions that were found make no shard.
[[nodiscard]] Result<formats::ShardTable> scan_shard(std::span<const std::byte> bytes,
                                                     formats::StoreKind store);

}  // namespace xtts::verify
