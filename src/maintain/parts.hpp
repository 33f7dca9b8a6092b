// Parts: caches of 'build --partition', opened and checked to be all parts of one cache.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "reader/cache_view.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

using Parts = std::vector<std::shared_ptr<reader::CacheView>>;

// Returns the parts in the order of their numbers. Failures: kInvalidArgument (a cache that is no
// part), kMismatch (parts that are missing, doubled or different), and those of opening a cache.
[[nodiscard]] Result<Parts> open_parts(Env& env, const std::vector<std::string>& paths,
                                       bool allow_mixed);

// Puts open parts in the order of their numbers. Failures: as open_parts() has of parts that do not
// go together.
[[nodiscard]] Result<Parts> in_order(Parts parts, bool allow_mixed);

}  // namespace xtts::maintain
