// index_repair makes a lost index again from the clips in the shards, the manifest and
// rejects.jsonl. It uses the code that writes an index after a build. The result counts only if
// its digest is the one that the manifest names.
//
// A cache without tokens has its texts in the index alone, so they come from the lists of DATA.
//
// It works for caches whose sound was written by one build: after later builds the shards do not
// tell which record belongs to which clip. Memory: the clips, one shard. Under the builder's lock.
// Failures: kResource, kCancelled.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "store/cache_folder.hpp"
#include "verify/sources.hpp"

namespace xtts::verify {

// Puts the index into its place. Returns nothing, or the reason why it cannot.
[[nodiscard]] Result<std::optional<std::string>> remake_index(
    Env& env, const std::string& cache, const formats::Manifest& manifest,
    store::CacheFolder& folder, const Sources& sources, const std::function<bool()>& cancelled);

}  // namespace xtts::verify
