// The builder's lock: .build/lock, held by one process on one machine (or, where the file system
// carries locks, on all). The system releases it when the process ends, in whatever way: there are
// no stale locks. The text in the file (host, pid) is for messages and never decides who holds
// it; where it names a process of this host that has ended, what that process was starting lets go
// in a moment, and is waited for, two seconds at most. Failures: kBusy (naming the holder),
// kResource.
#pragma once

#include <memory>
#include <string>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

[[nodiscard]] std::string lock_path(const std::string& cache);

// Makes .build/ where it is absent.
[[nodiscard]] Result<std::unique_ptr<FileLock>> take_builder_lock(Env& env,
                                                                  const std::string& cache);

}  // namespace xtts::store
