// Test caches with real shards: LMDB images as the store makes them.
#pragma once

#include "support/test_cache.hpp"

namespace xtts::testing {

[[nodiscard]] MadeShard make_shard_with_lmdb(const formats::ColumnSpec& column,
                                             std::uint64_t generation,
                                             const std::vector<TestBlock>& blocks);

}  // namespace xtts::testing
