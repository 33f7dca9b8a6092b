// repair mends exactly what a verify has found, and touches nothing else.
//
// A damaged or missing shard is made again (shard_repair.hpp). It replaces the damaged one by a
// rename, and only if its digest is the one that the manifest names. So nothing else changes, no
// generation follows, readers go on, and a crash at any moment leaves either file. rejects.jsonl
// is written from the index. A repair holds the builder's lock while it works: kBusy if a build
// runs. It leaves alone what it cannot mend, and the report says why.
#pragma once

#include <optional>

#include "verify/run.hpp"

namespace xtts::verify {

// Mends the index first, because it tells what the shards should hold. If the index is made again
// (index_repair.hpp), everything must be checked once more. Returns nothing if the index is sound
// or cannot be mended; then the findings say why.
[[nodiscard]] Result<std::optional<RepairedFile>> repair_index(Run& run);

// Call this after check_cache, with its findings. The findings of mended files go; those of a
// second look at these files replace them. Failures: kBusy, kResource (the disk), kUnsupported,
// kCancelled. Files mended before a failure stay mended.
[[nodiscard]] Status repair(Run& run, Report& report);

}  // namespace xtts::verify
