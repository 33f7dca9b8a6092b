// index_repair: a lost index made again from what the shards say of their clips, from the manifest
// and from rejects.jsonl, by the code that writes an index after a build. It counts only where its
// digest is the one that the manifest names.
//
// For caches whose sound was written by one build: of later ones the shards do not tell which
// record is whose. Memory: the clips, one shard. Under the builder's lock. Failures: kResource,
// kCancelled.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "store/cache_folder.hpp"

namespace xtts::verify {

// Puts the index into its place; nothing, or why that cannot be done.
[[nodiscard]] Result<std::optional<std::string>> remake_index(
    Env& env, const std::string& cache, const formats::Manifest& manifest,
    store::CacheFolder& folder, const std::function<bool()>& cancelled);

}  // namespace xtts::verify
