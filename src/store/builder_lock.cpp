#include "store/builder_lock.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "store/cache_folder.hpp"
#include "store/durable.hpp"
#include "store/ownership.hpp"

namespace xtts::store {
namespace {

constexpr int kAttemptsMax = 10;
constexpr std::uint64_t kTextBytesMax = 1024;
// The time that a dead builder's child has to release the lock.
constexpr std::chrono::milliseconds kPause{5};
constexpr int kPausesMax = 400;

// The beginning of the holder's text, before the process number.
std::string holder_of_this_host() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return formatted("host {}, process ", host.data());
}

std::string holder_of_this_process() {
  return holder_of_this_host() + std::to_string(::getpid());
}

// True where the lock's holder is an ended process of this host. A decoder that this builder was
// starting has inherited the lock and drops it at its exec, within milliseconds.
bool holder_has_ended(Env& env, const std::string& cache) {
  const auto text = read_text_file(env, lock_path(cache), kTextBytesMax);
  const std::string host = holder_of_this_host();
  if (!text || !text->starts_with(host)) return false;
  pid_t process = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data() + host.size(), end, process);
  return error == std::errc() && process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
}

Status busy(Env& env, const std::string& cache) {
  std::string message = "another builder holds " + cache;
  const auto text = read_text_file(env, lock_path(cache), kTextBytesMax);
  if (text && !text->empty()) {
    std::string holder = *text;
    std::erase_if(holder, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    message += ": " + holder;
  }
  return {StatusCode::kBusy, std::move(message)};
}

Status write_text(Env& env, const std::string& path, WriteMode mode, const std::string& text) {
  XTTS_ASSIGN(const auto file, env.open_for_write(path, mode));
  if (!text.empty()) XTTS_TRY(file->append(as_bytes(text)));
  return file->close();
}

Status come_and_go(const std::string& cache) {
  return {StatusCode::kBusy,
          formatted("other builders keep taking and leaving {}: run again", cache)};
}

// The inode at the lock's path; 0: no file.
Result<std::uint64_t> inode_of(Env& env, const std::string& path) {
  const auto facts = env.stat(path);
  if (facts) return facts->inode;
  if (facts.status().code() == StatusCode::kNotFound) return std::uint64_t{0};
  return facts.status();
}

struct HeldLock {
  std::unique_ptr<FileLock> lock;
  std::uint64_t inode = 0;  // of its file
};

// Null: a builder that finished meanwhile has removed the file; try again.
Result<HeldLock> try_lock(Env& env, const std::string& cache) {
  const std::string path = lock_path(cache);
  XTTS_TRY(write_text(env, path, WriteMode::kAppend, ""));
  XTTS_ASSIGN(const std::uint64_t before, inode_of(env, path));
  auto lock = env.lock(path, LockKind::kExclusive);
  if (!lock && lock.status().code() == StatusCode::kBusy) return busy(env, cache);
  if (!lock) return lock.status();
  // finish() removes the file under its own lock. A lock on a removed file excludes nobody, so the
  // inode at the path must be the same before and after. It cannot be a new file's, because a
  // locked file keeps its inode number.
  XTTS_ASSIGN(const std::uint64_t after, inode_of(env, path));
  if (before == 0 || before != after) return HeldLock();
  return HeldLock{std::move(*lock), after};
}

Result<HeldLock> take_lock(Env& env, const std::string& cache, const LeaseCallbacks& callbacks) {
  int pauses = 0;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    XTTS_TRY(env.create_directories(build_folder(cache)));
    const Status ours = check_build_folder(env, cache);
    auto lock = ours.ok() ? try_lock(env, cache) : Result<HeldLock>(ours);
    if (lock.status().code() == StatusCode::kBusy && pauses < kPausesMax &&
        holder_has_ended(env, cache)) {
      if (callbacks.cancelled && callbacks.cancelled())
        return Status(StatusCode::kCancelled, "stopped while it waited for another builder");
      env.sleep_for(kPause);
      ++pauses;
      --attempt;
      continue;
    }
    // kNotFound: .build/ was removed between two of our calls.
    if (!lock && lock.status().code() == StatusCode::kNotFound) continue;
    if (!lock) return lock.status();
    if (lock->lock == nullptr) continue;
    return lock;
  }
  return come_and_go(cache);
}

std::string notice_of(const std::string& cache, const LockScope& scope) {
  return formatted(
      "{} is on a file system ({}) whose locks may not reach other machines: a lease in .build/ "
      "keeps a second builder out, but nothing tells this one who reads. Publish an update when no "
      "training on another machine reads the cache, or build on a local disk and copy the result",
      cache, scope.file_system);
}

}  // namespace

std::string lock_path(const std::string& cache) {
  return join_path(build_folder(cache), "lock");
}

Result<std::unique_ptr<BuilderLock>> BuilderLock::take(Env& env, const std::string& cache,
                                                       const LeaseCallbacks& callbacks,
                                                       const LeaseTiming& timing) {
  XTTS_ASSIGN(const LockScope scope, env.lock_scope(cache));
  if (!scope.covers_all && callbacks.notice) callbacks.notice(notice_of(cache, scope));
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    auto held = std::unique_ptr<BuilderLock>(new BuilderLock(env, cache));
    XTTS_ASSIGN(const bool is_taken, held->try_take(scope, callbacks, timing));
    if (is_taken) return held;
  }
  return come_and_go(cache);
}

Result<bool> BuilderLock::try_take(const LockScope& scope, const LeaseCallbacks& callbacks,
                                   const LeaseTiming& timing) {
  auto taken = take_lock(env_, cache_, callbacks);
  if (taken.status().code() == StatusCode::kUnsupported) {
    if (scope.covers_all) return Status(StatusCode::kResource, taken.status().message());
  } else if (!taken) {
    return taken.status();
  }
  if (taken) {
    lock_ = std::move(taken->lock);
    inode_ = taken->inode;
  }
  // Even where locks reach everyone, a machine to which this one exports may have left a lease.
  if (!scope.covers_all || env_.stat(lease_path(cache_)).ok()) {
    auto lease = BuilderLease::take(env_, cache_, lock_ ? scope.domain : std::string(),
                                    holder_of_this_process(), callbacks, timing);
    // The previous holder has finished meanwhile and removed .build/.
    if (lease.status().code() == StatusCode::kNotFound) return false;
    XTTS_ASSIGN(lease_, std::move(lease));
    XTTS_ASSIGN(const std::uint64_t inode, inode_of(env_, lock_path(cache_)));
    if (lock_ && inode != inode_) return false;
  }
  // If the folder is gone, another builder took over and removed it while we did not run: try
  // again.
  Status marked = put_build_mark(env_, cache_);
  if (marked.code() == StatusCode::kNotFound) return false;
  XTTS_TRY(marked);
  if (!lock_) return true;
  Status written =
      write_text(env_, lock_path(cache_), WriteMode::kTruncate, holder_of_this_process() + "\n");
  if (written.code() == StatusCode::kNotFound) return false;
  XTTS_TRY(written);
  return true;
}

// If there is a lease, its text names the owner. Inode numbers decide only without one, because
// not every network file system keeps them.
Status BuilderLock::check() const {
  if (lease_) return lease_->check();
  return lock_ ? check_file() : Status();
}

Status BuilderLock::check_file() const {
  XTTS_ASSIGN(const std::uint64_t inode, inode_of(env_, lock_path(cache_)));
  if (inode == inode_) return {};
  const std::string what = build_folder(cache_) + " was moved or removed while this builder worked";
  if (inode != 0) return busy(env_, cache_).with_context(what);
  return {StatusCode::kResource,
          what + ", so it stops here: run again to go on with what is there"};
}

std::string BuilderLock::tag() const {
  return lease_ ? "-" + lease_->nonce().to_hex() : std::string();
}

Status BuilderLock::remove() {
  if (lease_) XTTS_TRY(lease_->give_back());
  XTTS_TRY(remove_if_there(env_, lock_path(cache_)));
  lock_.reset();
  return {};
}

}  // namespace xtts::store
