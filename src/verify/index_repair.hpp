// index_repair brings a lost or damaged index back from copy-of-index.bin (store/index_copy.hpp).
// Memory: a chunk. Under the builder's lock. Failures: kBusy, kResource.
#pragma once

#include <string>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "store/cache_folder.hpp"
#include "xtts/status.hpp"

namespace xtts::verify {

// Puts the index into its place, byte for byte. False: the copy is lost or damaged, too, or is of
// another generation.
[[nodiscard]] Result<bool> restore_index(Env& env, const std::string& cache,
                                         const formats::Manifest& manifest,
                                         store::CacheFolder& folder);

}  // namespace xtts::verify
