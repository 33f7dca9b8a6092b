// manifest_repair: a lost or damaged manifest.json made again from the copy that its index keeps.
// Where several indexes are there (readers hold what an update has replaced), from the one that is
// provably the newest: generations never restart, so it has the highest number, and nothing in the
// folder tells of a higher one. Else a finding says what is there, and how to name one.
#pragma once

#include <optional>

#include "verify/run.hpp"

namespace xtts::verify {

// Nothing where the manifest is sound, no index keeps a readable copy, which is the newest is not
// proved, or a build has not published yet: then the findings say what is wrong. Failures: kBusy,
// kResource.
[[nodiscard]] Result<std::optional<Mended>> mend_manifest(Run& run);

}  // namespace xtts::verify
