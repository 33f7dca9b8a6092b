// ProcessEnv is the Env of one simulated process, over the disk that all processes share.
//
// Each call is a step of the scheduler. A process has at most one misfortune, at a step of its own:
// it is killed, suspended, one of its calls fails, or the disk is full from then on. A dead
// process's calls change nothing and fail, its locks are free at once, and open files lead nowhere.
// Tasks only, one at a time, as the scheduler has it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/confined_env.hpp"
#include "base/env.hpp"
#include "base/scratch_file.hpp"
#include "scheduler.hpp"
#include "support/memory_env.hpp"

namespace xtts::simulation {

enum class Misfortune : std::uint8_t { kNone, kKill, kSuspend, kFailure, kFullDisk };

struct Fate {
  Misfortune kind = Misfortune::kNone;
  std::uint64_t at_step = 0;  // of the process, from 1
  std::uint64_t amount = 0;   // kSuspend: seconds; kFullDisk: the bytes that still fit
  double torn_share = 0;      // of an append that is cut by a kill or a failure
};

// The state that the processes share beside the files. `power_cut_at`: a step of the scheduler.
struct Disk {
  testing::MemoryEnv files;
  std::unique_ptr<testing::MemoryEnv> from_other_host = files.other_host("other");
  std::optional<std::uint64_t> room_bytes;
  std::optional<std::uint64_t> power_cut_at;
  std::function<void()> on_power_cut;  // kills all processes
  bool is_dark = false;                // the power is off: nothing goes on
};

struct Process : ProcessState {
  Fate fate;
  bool is_on_other_host = false;
  std::uint64_t step_count = 0;
  std::string last_call;  // before its misfortune, for the history
  std::set<class HeldLock*> locks;

  void die(Scheduler& scheduler);
};

class ProcessEnv final : public Env, public RuledEnv, public ScratchPlace {
 public:
  ProcessEnv(Disk& disk, Process& process);  // both must outlive it

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
  void sleep_for(std::chrono::nanoseconds duration) override;

 private:
  friend class ProcessReadFile;
  friend class ProcessWriteFile;
  friend class ProcessScratch;
  ProcessEnv(Disk& disk, Process& process, std::shared_ptr<Env> target);

  Disk& disk_;
  Process& process_;
  std::shared_ptr<Env> target_;
};

}  // namespace xtts::simulation
