// Removes the leftovers of a command that died after it had published, or that ran beside a reader.
// Free functions. One thread at a time. Failures: kResource, and those of CacheFolder.
#pragma once

#include <cstdint>
#include <string>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "maintain/new_cache.hpp"
#include "reader/cache_view.hpp"
#include "store/cache_folder.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

struct LeftOver {
  std::uint64_t freed_bytes = 0;  // of files that the manifest does not name
  std::uint64_t held_bytes = 0;   // the same, of a generation that a reader still holds
};

// Removes what no generation needs any more, and tells what had to stay.
[[nodiscard]] Result<LeftOver> remove_left_over(Env& env, store::CacheFolder& folder,
                                                const formats::Manifest& manifest);

// The cache at `to`, where a command of before has published it and died: its .build/ is there,
// without a journal. Null: there is none.
[[nodiscard]] std::shared_ptr<reader::CacheView> published_and_left(Env& env,
                                                                    const std::string& to);
// True where both have the same clips in the same order, and the same numbers of names.
[[nodiscard]] Result<bool> has_same_clips(reader::CacheView& a, reader::CacheView& b);

}  // namespace xtts::maintain
