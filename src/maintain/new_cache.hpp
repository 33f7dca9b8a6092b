// What all have in common that write a cache from caches: how they run, where they may write, and
// the proof that what they have written reads back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/env.hpp"
#include "store/builder_lease.hpp"
#include "store/cache_folder.hpp"
#include "verify/verify.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

// What must not change what is written.
struct WriteRun {
  std::uint32_t thread_count = 1;
  std::function<void(const char* step, std::uint64_t done, std::uint64_t total)> progress =
      {};  // from any thread; "clips", "bytes verified"
  std::function<bool()> cancelled = {};
  std::function<void(const std::string& text)> notice = {};  // BuildObserver::notice
};

// Absent, empty, or left by an interrupted command: somebody's folder of other things must not
// become a cache by a slip of the keyboard.
[[nodiscard]] Status check_target(Env& env, const std::string& path);

// kCorrupt where the published cache at `path` is not what its manifest says.
[[nodiscard]] Status verify_written(Env& env, const std::string& path, verify::Level level,
                                    const WriteRun& run);

// After a failure: nothing that was written is of use to a later run. The folder goes, too, where
// this run has made it.
void leave_nothing_unpublished(store::CacheFolder& folder);

[[nodiscard]] store::HoldNotices notices_of(const WriteRun& run);

// Progress of one step, where anybody looks.
[[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> progress_of(const WriteRun& run,
                                                                            const char* step);

}  // namespace xtts::maintain
