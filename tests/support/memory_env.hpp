// MemoryEnv: a file system in memory, for tests. It keeps written and synced bytes apart, so that a
// test can cut the power (forget_unsynced). It calls a hook before each operation, so that a test
// can fail any of them.
//
// Its model of durability is the strictest that POSIX allows. A file's bytes survive once the file
// was synced. A name (created, renamed or removed) survives once its folder was synced. Files and
// folders made by the add_ functions are durable at once. Paths are resolved as Linux does, with
// symbolic links; relative paths start at "/".
//
// Synchronised inside, as Env::real() is. The hook is called without the lock. Set it before
// threads start.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/confined_env.hpp"
#include "base/env.hpp"
#include "base/scratch_file.hpp"

namespace xtts::testing {

enum class EnvCall : std::uint8_t {
  kOpenForRead,
  kRead,
  kOpenForWrite,
  kAppend,
  kSync,
  kClose,
  kStat,
  kList,
  kCreateDirectories,
  kRename,
  kLink,
  kRemoveFile,
  kRemoveDirectory,
  kSyncDirectory,
  kFreeBytes,
  kRealPath,
  kLock,
  kLockScope,
  kOpenScratch,  // `path` is the folder, also when a scratch file is read or appended to
};

// The operation that is about to happen. The hook may change `torn_bytes`.
struct EnvOperation {
  EnvCall call = EnvCall::kStat;
  std::string path;
  std::string to;                // kRename, kLink: the new name
  std::uint64_t size_bytes = 0;  // kAppend, kRead: the bytes asked for
  // kAppend: how many bytes still reach the file when the hook fails the call, as on a full disk.
  std::uint64_t torn_bytes = 0;
};

// Returns the failure that the operation must have, or Status() to let it happen.
using EnvHook = std::function<Status(EnvOperation&)>;

class MemoryEnv final : public Env, public RuledEnv, public ScratchPlace {
 public:
  MemoryEnv();
  ~MemoryEnv() override;

  // Set-up. They make parent folders as needed, and replace what stands at `path`.
  void add_file(const std::string& path, std::string_view contents);
  // Writes into the file, which keeps its inode. With kKeep it gets the modification time of
  // before: only ctime tells it.
  enum class Times : std::uint8_t { kNew, kKeep };
  void change_in_place(const std::string& path, std::string_view contents,
                       Times times = Times::kKeep);
  void add_folder(const std::string& path);
  void add_link(const std::string& path, const std::string& target);
  void add_special(const std::string& path);  // a FIFO, socket or device

  // set_network() makes this a network file system, on which a lock reaches its own host only.
  // other_host() gives another host that sees it, with the same files, clock and hook. The tree
  // lives as long as either.
  void set_network();
  [[nodiscard]] std::unique_ptr<MemoryEnv> other_host(const std::string& name);

  void set_hook(EnvHook hook);
  // Called after each sleep_for, on the thread that slept. It can do what others did meanwhile.
  void set_on_sleep(std::function<void()> on_sleep);
  void set_free_bytes(std::uint64_t size_bytes);
  void advance_clock(std::chrono::nanoseconds by);
  // Listings come in the order of names by default. After this call each seed gives another order.
  void shuffle_listings(std::uint64_t seed);

  // The power fails and comes back: everything unsynced is gone. Open files and locks lead nowhere.
  // With `survives`, each unsynced name and each unsynced file is asked for: true keeps it.
  void forget_unsynced(const std::function<bool()>& survives = {});

  [[nodiscard]] bool exists(const std::string& path);
  [[nodiscard]] std::string contents(const std::string& path);  // empty where there is no such file
  [[nodiscard]] std::vector<std::string> all_files();           // every regular file, sorted
  [[nodiscard]] std::size_t scratch_count();                    // scratch files that are held

  // Links::kInside follows every link here. Only RealEnv sees whether a link leads out.
  [[nodiscard]] std::shared_ptr<Env> with_rule(const std::string& folder, Links links) override;
  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_new(const std::string& path) override;
  [[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_for_read(
      const std::string& path) override;
  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_for_write(const std::string& path,
                                                                     WriteMode mode) override;
  [[nodiscard]] Result<FileFacts> stat(const std::string& path) override;
  [[nodiscard]] Result<std::vector<DirectoryEntry>> list(const std::string& path) override;
  [[nodiscard]] Status create_directories(const std::string& path) override;
  [[nodiscard]] Status rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] Status link(const std::string& from, const std::string& to) override;
  [[nodiscard]] Status remove_file(const std::string& path) override;
  [[nodiscard]] Status remove_directory(const std::string& path) override;
  [[nodiscard]] Status sync_directory(const std::string& path) override;
  [[nodiscard]] Result<std::uint64_t> free_bytes(const std::string& path) override;
  [[nodiscard]] Result<std::string> real_path(const std::string& path) override;
  [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                       LockKind kind) override;
  [[nodiscard]] Result<LockScope> lock_scope(const std::string& folder) override;
  [[nodiscard]] Result<std::unique_ptr<ScratchFile>> open_scratch(
      const std::string& folder) override;
  [[nodiscard]] std::chrono::nanoseconds now() override;
  // Advances the clock and returns at once.
  void sleep_for(std::chrono::nanoseconds duration) override;

 private:
  struct State;
  struct Target;
  MemoryEnv(std::shared_ptr<State> state, std::string host, std::vector<std::string> link_free);
  // Finds the place that `path` leads to, or would lead to, under the rules of with_rule().
  [[nodiscard]] Result<Target> find(const std::string& path, bool follows_last) const;
  [[nodiscard]] Result<Target> find_existing(const std::string& path, bool follows_last) const;

  std::shared_ptr<State>
      state_;  // shared with open files and locks, which may outlive the MemoryEnv
  std::string host_;
  std::vector<std::string> link_free_;  // folders below which no link is followed
};

}  // namespace xtts::testing
