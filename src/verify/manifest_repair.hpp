// manifest_repair makes a lost or damaged manifest.json again from the copy that its index keeps.
// There may be several indexes, because readers hold replaced ones. It then takes the provably
// newest: generations never restart, so this index has the highest number, and nothing in the
// folder tells of a higher one. Without proof, a finding lists the indexes and says how to name
// one.
#pragma once

#include <optional>

#include "verify/run.hpp"

namespace xtts::verify {

// Returns nothing if the manifest is sound, no index keeps a readable copy, the newest index is
// not proved, or a build has not published yet. The findings then say what is wrong. Failures:
// kBusy, kResource.
[[nodiscard]] Result<std::optional<RepairedFile>> repair_manifest(Run& run);

}  // namespace xtts::verify
