// LeftOut: a generation without some clips, for those whose records are lost and that nothing makes
// again. Their records become tombstones, so that the shards which held them can be renewed
// (renewal.hpp); tokens are written anew from the texts in the index.
//
// Under the builder's lock; one thread at a time. Memory: as a build's plan and index. A crash
// before the manifest leaves the cache as it was and files that nobody names. Failures: kCorrupt,
// kResource, kBusy.
#pragma once

#include <cstdint>
#include <set>

#include "formats/manifest.hpp"
#include "store/cache_folder.hpp"
#include "verify/run.hpp"
#include "xtts/status.hpp"

namespace xtts::verify {

// Publishes; the manifest of the new generation. What it replaces stays until garbage is collected.
// The next build looks at all sources of DATA, also where nothing in it has changed.
[[nodiscard]] Result<formats::Manifest> publish_without(Run& run, store::CacheFolder& folder,
                                                        const std::set<std::uint64_t>& positions);

}  // namespace xtts::verify
