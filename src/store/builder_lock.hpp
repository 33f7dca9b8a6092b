// BuilderLock admits one builder per cache. It has two parts:
//   .build/lock   a lock of the system, which releases it when the process ends in any way, so no
//                 lock is ever stale. The file's text (host, pid) is for messages and never decides
//                 who holds the lock. If the text names an ended process of this host, a child that
//                 this process was starting still has the lock; we wait for it two seconds at most.
//   .build/lease  only where the file system's locks may not reach everyone, or another machine has
//                 left a lease (builder_lease.hpp).
// Call take() and remove() from one thread, check() from any. Failures: kBusy (naming the holder),
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
  // Creates .build/ if absent. Reports a file system whose locks may not reach everyone.
  [[nodiscard]] static Result<std::unique_ptr<BuilderLock>> take(
      Env& env, const std::string& cache, const LeaseCallbacks& callbacks = {},
      const LeaseTiming& timing = {});

  // Checks that the cache is still ours. Call it before every step that others will see. kBusy:
  // another builder has it; kResource: .build/ has been moved or removed.
  [[nodiscard]] Status check() const;
  // A part of temporary files' names, so that no two holds write into one file. Empty where only
  // one hold can exist.
  [[nodiscard]] std::string tag() const;
  // Removes both files and releases the lock. (A network file system would keep a removed file
  // that is still open under another name, and its folder could then not be removed.)
  [[nodiscard]] Status remove();

 private:
  BuilderLock(Env& env, std::string cache) : env_(env), cache_(std::move(cache)) {}
  // Checks that the locked file still exists: a lock on a removed file keeps no builder out.
  [[nodiscard]] Status check_file() const;
  // False: other builders came and went meanwhile; try again.
  [[nodiscard]] Result<bool> try_take(const LockScope& scope, const LeaseCallbacks& callbacks,
                                      const LeaseTiming& timing);

  Env& env_;
  const std::string cache_;
  std::unique_ptr<FileLock> lock_;  // null: the file system has no locks
  std::uint64_t inode_ = 0;         // of its file
  std::unique_ptr<BuilderLease> lease_;
};

}  // namespace xtts::store
