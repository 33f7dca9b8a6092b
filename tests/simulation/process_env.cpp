#include "process_env.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace xtts::simulation {
namespace {

constexpr std::uint64_t kDiskBytes = std::uint64_t{1} << 40U;

enum class Effect : std::uint8_t { kReads, kChanges };

Status dead() {
  return {StatusCode::kResource, "the process is dead"};
}

// Called before each call. Returns the failure that the call must have. `torn`: the share of an
// append that still reaches the file.
Status take_step(Disk& disk, Process& process, Effect effect, const std::string& what,
                 double* torn = nullptr) {
  if (process.is_dead) return dead();
  Scheduler& scheduler = *Scheduler::active();
  scheduler.step();
  if (process.is_dead) return dead();
  if (disk.power_cut_at && scheduler.step_count() >= *disk.power_cut_at && !disk.is_dark) {
    disk.on_power_cut();
    process.last_call = what;
    return dead();
  }
  ++process.step_count;
  Fate& fate = process.fate;
  if (fate.kind == Misfortune::kNone || process.step_count < fate.at_step) return {};
  // A failure waits for a call that changes something: those that read are few, and alike.
  if (fate.kind == Misfortune::kFailure && effect == Effect::kReads) return {};
  const Misfortune kind = std::exchange(fate.kind, Misfortune::kNone);
  process.last_call = what;
  switch (kind) {
    case Misfortune::kKill:
      process.die(scheduler);
      if (torn != nullptr) *torn = fate.torn_share;
      return dead();
    case Misfortune::kSuspend:
      process.suspended_until = scheduler.now() + std::chrono::seconds(fate.amount);
      scheduler.yield();
      return process.is_dead ? dead() : Status();
    case Misfortune::kFailure:
      if (torn != nullptr) *torn = fate.torn_share;
      return {StatusCode::kResource, what + ": Input/output error"};
    case Misfortune::kFullDisk:
      disk.room_bytes = fate.amount;
      return {};
    case Misfortune::kNone:
      break;
  }
  return {};
}

template <typename File>
Status append_to(Disk& disk, Process& process, File& file, const std::string& what,
                 std::span<const std::byte> bytes) {
  double torn = 0;
  if (Status status = take_step(disk, process, Effect::kChanges, what, &torn); !status.ok()) {
    const auto count = static_cast<std::size_t>(torn * static_cast<double>(bytes.size()));
    if (count > 0) (void)file.append(bytes.first(std::min(count, bytes.size())));
    return status;
  }
  if (disk.room_bytes && bytes.size() > *disk.room_bytes) {
    (void)file.append(bytes.first(*disk.room_bytes));
    disk.room_bytes = 0;
    return {StatusCode::kResource, what + ": No space left on device"};
  }
  if (disk.room_bytes) *disk.room_bytes -= bytes.size();
  return file.append(bytes);
}

}  // namespace

class HeldLock final : public FileLock {
 public:
  HeldLock(Process& process, std::unique_ptr<FileLock> lock)
      : process_(process), lock_(std::move(lock)) {
    process_.locks.insert(this);
  }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock() override { process_.locks.erase(this); }
  void release() { lock_.reset(); }

 private:
  Process& process_;
  std::unique_ptr<FileLock> lock_;
};

void Process::die(Scheduler& scheduler) {
  is_dead = true;
  for (HeldLock* lock : locks) lock->release();
  scheduler.wake_process(*this);
}

class ProcessReadFile final : public RandomAccessFile {
 public:
  ProcessReadFile(const ProcessEnv& env, std::string path, std::unique_ptr<RandomAccessFile> file)
      : disk_(env.disk_), process_(env.process_), path_(std::move(path)), file_(std::move(file)) {}

  [[nodiscard]] std::uint64_t size_bytes() const override { return file_->size_bytes(); }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    XTTS_TRY(take_step(disk_, process_, Effect::kReads, "read " + path_));
    return file_->read_at(offset_bytes, out);
  }

 private:
  Disk& disk_;
  Process& process_;
  std::string path_;
  std::unique_ptr<RandomAccessFile> file_;
};

class ProcessWriteFile final : public WritableFile {
 public:
  ProcessWriteFile(const ProcessEnv& env, std::string path, std::unique_ptr<WritableFile> file)
      : disk_(env.disk_), process_(env.process_), path_(std::move(path)), file_(std::move(file)) {}

  [[nodiscard]] Status append(std::span<const std::byte> bytes) override {
    return append_to(disk_, process_, *file_, "append " + path_, bytes);
  }
  [[nodiscard]] Status sync() override {
    XTTS_TRY(take_step(disk_, process_, Effect::kChanges, "sync " + path_));
    return file_->sync();
  }
  [[nodiscard]] Status close() override {
    XTTS_TRY(take_step(disk_, process_, Effect::kChanges, "close " + path_));
    return file_->close();
  }

 private:
  Disk& disk_;
  Process& process_;
  std::string path_;
  std::unique_ptr<WritableFile> file_;
};

class ProcessScratch final : public ScratchFile {
 public:
  ProcessScratch(const ProcessEnv& env, std::unique_ptr<ScratchFile> file)
      : disk_(env.disk_), process_(env.process_), file_(std::move(file)) {}

  [[nodiscard]] Status append(std::span<const std::byte> bytes) override {
    return append_to(disk_, process_, *file_, "append to scratch", bytes);
  }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    XTTS_TRY(take_step(disk_, process_, Effect::kReads, "read scratch"));
    return file_->read_at(offset_bytes, out);
  }

 private:
  Disk& disk_;
  Process& process_;
  std::unique_ptr<ScratchFile> file_;
};

ProcessEnv::ProcessEnv(Disk& disk, Process& process)
    : ProcessEnv(disk, process,
                 std::shared_ptr<Env>(std::shared_ptr<Env>(), process.is_on_other_host
                                                                  ? disk.from_other_host.get()
                                                                  : &disk.files)) {}
ProcessEnv::ProcessEnv(Disk& disk, Process& process, std::shared_ptr<Env> target)
    : disk_(disk), process_(process), target_(std::move(target)) {}

std::shared_ptr<Env> ProcessEnv::with_rule(const std::string& folder, Links links) {
  return std::shared_ptr<Env>(
      new ProcessEnv(disk_, process_, confined_to(*target_, folder, links)));
}

Result<std::unique_ptr<WritableFile>> ProcessEnv::open_new(const std::string& path) {
  XTTS_TRY(take_step(disk_, process_, Effect::kChanges, "create " + path));
  XTTS_ASSIGN(auto file, open_new_file(*target_, path));
  return std::unique_ptr<WritableFile>(
      std::make_unique<ProcessWriteFile>(*this, path, std::move(file)));
}

Result<std::unique_ptr<RandomAccessFile>> ProcessEnv::open_for_read(const std::string& path) {
  XTTS_TRY(take_step(disk_, process_, Effect::kReads, "open " + path));
  XTTS_ASSIGN(auto file, target_->open_for_read(path));
  return std::unique_ptr<RandomAccessFile>(
      std::make_unique<ProcessReadFile>(*this, path, std::move(file)));
}

Result<std::unique_ptr<WritableFile>> ProcessEnv::open_for_write(const std::string& path,
                                                                 WriteMode mode) {
  XTTS_TRY(take_step(disk_, process_, Effect::kChanges, "open for writing " + path));
  XTTS_ASSIGN(auto file, target_->open_for_write(path, mode));
  return std::unique_ptr<WritableFile>(
      std::make_unique<ProcessWriteFile>(*this, path, std::move(file)));
}

Result<FileFacts> ProcessEnv::stat(const std::string& path) {
  XTTS_TRY(take_step(disk_, process_, Effect::kReads, "stat " + path));
  return target_->stat(path);
}

Result<std::vector<DirectoryEntry>> ProcessEnv::list(const std::string& path) {
  XTTS_TRY(take_step(disk_, process_, Effect::kReads, "list " + path));
  XTTS_ASSIGN(auto entries, target_->list(path));
  for (std::size_t i = entries.size(); i > 1; --i)  // in no particular order
    std::swap(entries[i - 1], entries[Scheduler::active()->random_word() % i]);
  return entries;
}

Status ProcessEnv::create_directories(const std::string& path) {
  XTTS_TRY(take_step(disk_, process_, Effect::kChanges, "create folder " + path));
  return target_->create_directories(path);
}

Status ProcessEnv::rename(const std::string& from, const std::string& to) {
  XTTS_TRY(take_step(disk_, process_, Effect::kChanges, "rename " + from + " to " + to));
  return target_->rename(from, to);
}

Status ProcessEnv::link(const std::string& from, const std::string& to) {
  XTTS_TRY(take_step(disk_, process_, Effect::kChanges, "link " + from + " to " + to));
  return target_->link(from, to);
}

Status ProcessEnv::remove_file(const std::string& path) {
  XTTS_TRY(take_step(disk_, process_, Effect::kChanges, "remove " + path));
  return target_->remove_file(path);
}

Status ProcessEnv::remove_directory(const std::string& path) {
  XTTS_TRY(take_step(disk_, process_, Effect::kChanges, "remove folder " + path));
  return target_->remove_directory(path);
}

Status ProcessEnv::sync_directory(const std::string& path) {
  XTTS_TRY(take_step(disk_, process_, Effect::kChanges, "sync folder " + path));
  return target_->sync_directory(path);
}

Result<std::uint64_t> ProcessEnv::free_bytes(const std::string& path) {
  XTTS_TRY(take_step(disk_, process_, Effect::kReads, "free bytes of " + path));
  return disk_.room_bytes.value_or(kDiskBytes);
}

Result<std::string> ProcessEnv::real_path(const std::string& path) {
  XTTS_TRY(take_step(disk_, process_, Effect::kReads, "real path of " + path));
  return target_->real_path(path);
}

Result<std::unique_ptr<FileLock>> ProcessEnv::lock(const std::string& path, LockKind kind) {
  XTTS_TRY(take_step(disk_, process_,
                     kind == LockKind::kExclusive ? Effect::kChanges : Effect::kReads,
                     "lock " + path));
  XTTS_ASSIGN(auto lock, target_->lock(path, kind));
  return std::unique_ptr<FileLock>(std::make_unique<HeldLock>(process_, std::move(lock)));
}

Result<LockScope> ProcessEnv::lock_scope(const std::string& folder) {
  XTTS_TRY(take_step(disk_, process_, Effect::kReads, "lock scope of " + folder));
  return target_->lock_scope(folder);
}

Result<std::unique_ptr<ScratchFile>> ProcessEnv::open_scratch(const std::string& folder) {
  XTTS_TRY(take_step(disk_, process_, Effect::kChanges, "open scratch in " + folder));
  XTTS_ASSIGN(auto file, xtts::open_scratch(*target_, folder));
  return std::unique_ptr<ScratchFile>(std::make_unique<ProcessScratch>(*this, std::move(file)));
}

std::chrono::nanoseconds ProcessEnv::now() {
  return Scheduler::active()->now();
}

void ProcessEnv::sleep_for(std::chrono::nanoseconds duration) {
  Scheduler& scheduler = *Scheduler::active();
  scheduler.sleep_until(scheduler.now() + duration);
}

}  // namespace xtts::simulation
