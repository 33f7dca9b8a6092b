// manifest_repair: a lost or damaged manifest.json made again from the copy that its index keeps.
// Where several indexes are there (readers hold what an update has replaced) the newest one's.
#pragma once

#include <optional>

#include "verify/run.hpp"

namespace xtts::verify {

// Nothing where the manifest is sound, no index keeps a readable copy, or a build has not published
// yet: then checking the cache says what is wrong. Failures: kBusy, kResource.
[[nodiscard]] Result<std::optional<Mended>> mend_manifest(Run& run);

}  // namespace xtts::verify
