// Test caches with real shards: images as the store makes them.
#pragma once

#include "support/test_cache.hpp"

namespace xtts::testing {

[[nodiscard]] ShardMaker make_real_shards(formats::StoreKind store);

}  // namespace xtts::testing
