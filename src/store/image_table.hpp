// The table of a finished image, read from its final bytes (cache-v1.md, section 7). Pure
// functions.
#pragma once

#include <cstdint>
#include <span>

#include "formats/shard_table.hpp"
#include "store/lmdb_layout.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// `values` are the large values of `image`: all block headers with their payloads, then all facts,
// both in the order of blocks. Every header and facts value is checked as a reader would check it.
// kInternal where anything is not as the format promises it: such an image must not reach a disk.
[[nodiscard]] Result<formats::ShardTable> read_table(std::span<const std::byte> image,
                                                     std::span<const LargeValue> values);

}  // namespace xtts::store
