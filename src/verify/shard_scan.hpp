// shard_scan makes the table of a shard from its own bytes, if no index tells it. Block headers
// and facts values carry their own checks and lie where cache-v1.md, sections 4 and 4b, say.
// LMDB's pages and HDF5's objects are never parsed. The caller compares the digest, which shows
// whether the table is the shard's. Pure function.
#pragma once

#include <cstddef>
#include <span>

#include "formats/shard_table.hpp"
#include "formats/storage_config.hpp"
#include "xtts/status.hpp"

namespace xtts::verify {

// kCorrupt: the regions found do not make a shard.
[[nodiscard]] Result<formats::ShardTable> scan_shard(std::span<const std::byte> bytes,
                                                     formats::StoreKind store);

}  // namespace xtts::verify
