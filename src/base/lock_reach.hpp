// How far the operating system's locks in a folder reach, by the kind of its file system (Linux).
// Free function. Failures: kNotFound, kResource.
#pragma once

#include <string>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts {

[[nodiscard]] Result<LockReach> real_lock_reach(const std::string& folder);

// Whether readers of this open file may take turns by a lock on it (RandomAccessFile::try_turn):
// where its locks stay in this machine, so that no machine waits for another. Of a FUSE file system
// the kernel keeps them, unless it asks for them itself, which few do.
[[nodiscard]] bool may_take_turns(int fd) noexcept;

}  // namespace xtts
