// The steps of a builder, as far as src/store is concerned, over images that were made once: what
// the fault tests interrupt at every call. Generation 1 publishes two mel shards and one of tokens;
// generation 2 adds a mel shard and replaces the tokens, so that there is something to collect.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "image_samples.hpp"
#include "store/journal.hpp"
#include "xtts/status.hpp"

namespace xtts::testing {

inline constexpr std::string_view kCache = "/data/cache";

// Builds on from whatever is there until `generation` is published; nothing to do when it is
// already.
[[nodiscard]] Status build_generation(Env& env, formats::StoreKind store, std::uint64_t generation);
// Both generations, one after the other.
[[nodiscard]] Status build_both(Env& env, formats::StoreKind store);

// The files of a cache that must be there whole when `generation` is published, by path.
using Files = std::map<std::string, std::string>;
[[nodiscard]] const Files& files_of(formats::StoreKind store, std::uint64_t generation);

// The bytes of any shard that the builder ever seals, by its path.
[[nodiscard]] const Files& all_shards(formats::StoreKind store);

}  // namespace xtts::testing
