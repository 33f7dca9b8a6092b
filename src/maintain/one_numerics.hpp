// Whether all records of a cache come from the same processor and libraries. Pure but for the reads
// of one block header a shard.
#pragma once

#include "reader/cache_view.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

// kMismatch where a build with --allow-mixed has put two numerics into the mel column: they cannot
// stand in one block, so that such a cache cannot be laid out anew.
[[nodiscard]] Status check_one_numerics(Env& env, reader::CacheView& view);

}  // namespace xtts::maintain
