// BuilderLock: one builder a cache. Two parts:
//   .build/lock   a lock of the system's, which it releases when the process ends, in whatever way:
//                 there are no stale ones. The text in the file (host, pid) is for messages and
//                 never decides who holds it; where it names a process of this host that has ended,
//                 what that process was starting lets go in a moment, and is waited for, two
//                 seconds at most.
//   .build/lease  where the file system's locks may not reach everyone, or another machine has
//                 left one (builder_lease.hpp).
// take() and remove() from one thread, check() from any. Failures: kBusy (naming the holder),
// kResource, kCancelled.
#pragma once

#include <memory>
#include <string>

#include "base/env.hpp"
#include "store/builder_lease.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

[[nodiscard]] std::string lock_path(const std::string& cache);

class BuilderLock {
 public:
  // Makes .build/ where it is absent. Tells of a file system whose locks may not reach everyone.
  [[nodiscard]] static Result<std::unique_ptr<BuilderLock>> take(Env& env, const std::string& cache,
                                                                 const HoldNotices& notices = {},
                                                                 const LeaseTerms& terms = {});

  // Is the cache still ours? To be asked before every step that others will see. kBusy: it is
  // another's; kResource: .build/ has been moved or removed beside us.
  [[nodiscard]] Status check() const;
  // In the names of temporary files, so that no two holds ever write into one; empty where only one
  // hold can be.
  [[nodiscard]] std::string tag() const;
  // Both files go, and the lock with them: a network file system keeps an open file that was
  // removed under another name in its folder, which could then not be removed itself.
  [[nodiscard]] Status remove();

 private:
  BuilderLock(Env& env, std::string cache) : env_(env), cache_(std::move(cache)) {}
  // That nobody has removed the file with the lock on it: a lock on another file keeps nobody out.
  [[nodiscard]] Status check_file() const;
  // False: builders came and went meanwhile; begin anew.
  [[nodiscard]] Result<bool> try_take(const LockReach& reach, const HoldNotices& notices,
                                      const LeaseTerms& terms);

  Env& env_;
  const std::string cache_;
  std::unique_ptr<FileLock> lock_;  // null where the file system has none
  std::uint64_t inode_ = 0;         // of its file
  std::unique_ptr<BuilderLease> lease_;
};

}  // namespace xtts::store
