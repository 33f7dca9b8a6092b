// copy-of-index.bin: the published index once more (cache-v1.md, section 10). The index of a cache
// that updates have changed cannot be made again from its shards, which do not tell what came
// after them. So `verify --repair` takes it from here. Free functions. One thread at a time.
// Failures: kBusy, kResource.
#pragma once

#include <string>
#include <string_view>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

class CacheFolder;

inline constexpr std::string_view kIndexCopyName = "copy-of-index.bin";

// True where the file is there and ends as the index of `manifest` does. Reads its footer only.
[[nodiscard]] bool has_index_copy(Env& env, const std::string& cache,
                                  const formats::Manifest& manifest);
// True where the file ends as another index does: after a crash, that of a generation that was not
// published.
[[nodiscard]] bool is_copy_of_another(Env& env, const std::string& cache,
                                      const formats::Manifest& manifest);
// Copies the published index, unless has_index_copy().
[[nodiscard]] Status save_index_copy(Env& env, CacheFolder& folder,
                                     const formats::Manifest& manifest);

}  // namespace xtts::store
