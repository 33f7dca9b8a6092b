// LeftOut writes a generation without clips whose records are lost and cannot be made again. Their
// records become tombstones, so the shards that held them can be renewed (renewal.hpp). Tokens are
// written anew from the texts in the index.
//
// Under the builder's lock; one thread at a time. Memory: as a build's plan and index. A crash
// before the manifest leaves the cache as it was, and files that no manifest names. Failures:
// kCorrupt, kResource, kBusy.
#pragma once

#include <cstdint>
#include <set>

#include "formats/manifest.hpp"
#include "store/cache_folder.hpp"
#include "verify/run.hpp"
#include "xtts/status.hpp"

namespace xtts::verify {

// Publishes the new generation and returns its manifest. The files that it replaces stay until
// garbage is collected. The next build looks at all sources of DATA, also where nothing has
// changed.
[[nodiscard]] Result<formats::Manifest> publish_without(Run& run, store::CacheFolder& folder,
                                                        const std::set<std::uint64_t>& positions);

}  // namespace xtts::verify
