// Shared by the commands that write a cache from caches: how they run, where they may write, and
// the check that the written cache reads back.
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

// How a command runs. None of it may change what is written.
struct WriteRun {
  std::uint32_t thread_count = 1;
  std::function<void(const char* step, std::uint64_t done, std::uint64_t total)> progress =
      {};  // from any thread; "clips", "bytes verified"
  std::function<bool()> cancelled = {};
  std::function<void(const std::string& text)> notice = {};  // BuildObserver::notice
};

// Accepts a folder that is absent, empty, or left by an interrupted command. A folder of other
// things must not become a cache by a typing mistake.
[[nodiscard]] Status check_target(Env& env, const std::string& path);

// kCorrupt if the published cache at `path` is not what its manifest says.
[[nodiscard]] Status verify_written(Env& env, const std::string& path, verify::Level level,
                                    const WriteRun& run);

// Removes what a failed run has written: no later run can use it. Removes the folder, too, if this
// run made it. What was published stays, with .build/: the same command completes it.
void remove_unpublished(store::CacheFolder& folder);

[[nodiscard]] store::LeaseCallbacks lease_callbacks_of(const WriteRun& run);

// Reports the progress of one step, if the run has a callback.
[[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> progress_of(const WriteRun& run,
                                                                            const char* step);

}  // namespace xtts::maintain
