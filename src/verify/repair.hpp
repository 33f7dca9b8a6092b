// repair: mends exactly what a verify has found, and touches nothing else.
//
// A damaged or missing shard is made again (shard_repair.hpp) and takes the damaged one's place by
// a rename, and only where its digest is the one that the manifest names: so nothing else changes,
// no generation follows, readers go on, and a crash at any moment leaves either file. rejects.jsonl
// is written from the index. It holds the builder's lock while it works: kBusy where somebody
// builds. What cannot be mended is left alone, and the report says why.
#pragma once

#include <optional>

#include "verify/run.hpp"

namespace xtts::verify {

// The index first, for without it nobody knows what the shards should hold: where it is made again
// (index_repair.hpp), everything is to be looked at once more. Nothing where it is sound, or where
// it cannot be mended: then the findings say why.
[[nodiscard]] Result<std::optional<Mended>> mend_index(Run& run);

// After check_cache, with its findings: those of mended files go, and what a second look at these
// files finds takes their place. Failures: kBusy, kResource (the disk), kUnsupported, kCancelled;
// what was mended before stays mended.
[[nodiscard]] Status mend(Run& run, Report& report);

}  // namespace xtts::verify
