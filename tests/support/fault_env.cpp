#include "fault_env.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "base/try.hpp"

namespace xtts::testing {

struct FaultEnv::State {
  std::optional<Fault> fault;
  std::optional<std::uint64_t> room_bytes;
  std::uint64_t call_count = 0;
  std::atomic<bool> is_dead = false;  // threads that read look at it, too
  std::string failed_call;
  std::set<std::string> unsafe_paths;  // files whose last sync failed
  std::vector<std::string> misuse;

  [[nodiscard]] Status dead() const {
    return is_dead ? Status(StatusCode::kResource, "the process is dead") : Status();
  }

  // Called before each changing call. Returns the failure that the call must have.
  [[nodiscard]] Status ask(const std::string& what) {
    XTTS_TRY(dead());
    ++call_count;
    if (!fault || call_count != fault->at_call) return {};
    is_dead = fault->aftermath == Aftermath::kIsACrash;
    failed_call = what;
    return fault->failure.with_context(what);
  }

  void forbid_after_failed_sync(const std::string& path, const std::string& what) {
    if (unsafe_paths.contains(path)) misuse.push_back(what);
  }
};

namespace {

Status append_with_faults(auto& state, const std::string& what, auto& file,
                          std::span<const std::byte> bytes) {
  if (Status status = state.ask(what); !status.ok()) {
    const double share = state.failed_call == what && state.fault ? state.fault->torn_share : 0;
    const auto count = static_cast<std::size_t>(share * static_cast<double>(bytes.size()));
    XTTS_TRY(file.append(bytes.first(std::min(count, bytes.size()))));
    return status;
  }
  if (state.room_bytes && bytes.size() > *state.room_bytes) {
    XTTS_TRY(file.append(bytes.first(*state.room_bytes)));
    state.room_bytes = 0;
    return {StatusCode::kResource, what + ": No space left on device"};
  }
  if (state.room_bytes) *state.room_bytes -= bytes.size();
  return file.append(bytes);
}

template <typename State>
class FaultScratch final : public ScratchFile {
 public:
  FaultScratch(std::shared_ptr<State> state, std::string folder, std::unique_ptr<ScratchFile> file)
      : state_(std::move(state)), folder_(std::move(folder)), file_(std::move(file)) {}

  [[nodiscard]] Status append(std::span<const std::byte> bytes) override {
    return append_with_faults(*state_, "append to scratch in " + folder_, *file_, bytes);
  }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    XTTS_TRY(state_->dead());
    return file_->read_at(offset_bytes, out);
  }

 private:
  std::shared_ptr<State> state_;
  std::string folder_;
  std::unique_ptr<ScratchFile> file_;
};

template <typename State>
class FaultFile final : public WritableFile {
 public:
  FaultFile(std::shared_ptr<State> state, std::string path, std::unique_ptr<WritableFile> file)
      : state_(std::move(state)), path_(std::move(path)), file_(std::move(file)) {}

  [[nodiscard]] Status append(std::span<const std::byte> bytes) override {
    const std::string what = "append " + path_;
    state_->forbid_after_failed_sync(path_, what);
    return append_with_faults(*state_, what, *file_, bytes);
  }

  [[nodiscard]] Status sync() override {
    const std::string what = "sync " + path_;
    state_->forbid_after_failed_sync(path_, what);
    Status status = state_->ask(what);
    if (status.ok()) return file_->sync();
    state_->unsafe_paths.insert(path_);
    return status;
  }

  [[nodiscard]] Status close() override {
    XTTS_TRY(state_->ask("close " + path_));
    return file_->close();
  }

 private:
  std::shared_ptr<State> state_;
  std::string path_;
  std::unique_ptr<WritableFile> file_;
};

}  // namespace

FaultEnv::FaultEnv(Env& target)
    : FaultEnv(std::make_shared<State>(), std::shared_ptr<Env>(std::shared_ptr<Env>(), &target)) {}
FaultEnv::FaultEnv(std::shared_ptr<State> state, std::shared_ptr<Env> target)
    : state_(std::move(state)), target_(std::move(target)) {}
FaultEnv::~FaultEnv() = default;

void FaultEnv::set_fault(std::optional<Fault> fault) {
  state_->fault = std::move(fault);
}
void FaultEnv::set_room_bytes(std::optional<std::uint64_t> room_bytes) {
  state_->room_bytes = room_bytes;
}
std::uint64_t FaultEnv::call_count() const {
  return state_->call_count;
}
bool FaultEnv::fault_happened() const {
  return !state_->failed_call.empty();
}
std::string FaultEnv::failed_call() const {
  return state_->failed_call;
}
std::vector<std::string> FaultEnv::misuse() const {
  return state_->misuse;
}

std::shared_ptr<Env> FaultEnv::with_rule(const std::string& folder, Links links) {
  return std::shared_ptr<Env>(new FaultEnv(state_, confined_to(*target_, folder, links)));
}

Result<std::unique_ptr<RandomAccessFile>> FaultEnv::open_for_read(const std::string& path) {
  XTTS_TRY(state_->dead());
  return target_->open_for_read(path);
}

Result<std::unique_ptr<WritableFile>> FaultEnv::open_for_write(const std::string& path,
                                                               WriteMode mode) {
  XTTS_TRY(state_->ask("open_for_write " + path));
  if (mode == WriteMode::kTruncate) state_->unsafe_paths.erase(path);
  XTTS_ASSIGN(auto file, target_->open_for_write(path, mode));
  return std::unique_ptr<WritableFile>(
      std::make_unique<FaultFile<State>>(state_, path, std::move(file)));
}

Result<std::unique_ptr<WritableFile>> FaultEnv::open_new(const std::string& path) {
  XTTS_TRY(state_->ask("open_new " + path));
  XTTS_ASSIGN(auto file, open_new_file(*target_, path));
  state_->unsafe_paths.erase(path);
  return std::unique_ptr<WritableFile>(
      std::make_unique<FaultFile<State>>(state_, path, std::move(file)));
}

Result<FileFacts> FaultEnv::stat(const std::string& path) {
  XTTS_TRY(state_->dead());
  return target_->stat(path);
}

Result<std::vector<DirectoryEntry>> FaultEnv::list(const std::string& path) {
  XTTS_TRY(state_->dead());
  return target_->list(path);
}

Status FaultEnv::create_directories(const std::string& path) {
  XTTS_TRY(state_->ask("create_directories " + path));
  return target_->create_directories(path);
}

Status FaultEnv::rename(const std::string& from, const std::string& to) {
  const std::string what = "rename " + from;
  state_->forbid_after_failed_sync(from, what);
  XTTS_TRY(state_->ask(what));
  state_->unsafe_paths.erase(to);
  return target_->rename(from, to);
}

Status FaultEnv::link(const std::string& from, const std::string& to) {
  const std::string what = "link " + from;
  state_->forbid_after_failed_sync(from, what);
  XTTS_TRY(state_->ask(what));
  return target_->link(from, to);
}

Status FaultEnv::remove_file(const std::string& path) {
  XTTS_TRY(state_->ask("remove_file " + path));
  state_->unsafe_paths.erase(path);
  return target_->remove_file(path);
}

Status FaultEnv::remove_directory(const std::string& path) {
  XTTS_TRY(state_->ask("remove_directory " + path));
  return target_->remove_directory(path);
}

Status FaultEnv::sync_directory(const std::string& path) {
  XTTS_TRY(state_->ask("sync_directory " + path));
  return target_->sync_directory(path);
}

Result<std::uint64_t> FaultEnv::free_bytes(const std::string& path) {
  XTTS_TRY(state_->dead());
  return target_->free_bytes(path);
}

Result<std::string> FaultEnv::real_path(const std::string& path) {
  XTTS_TRY(state_->dead());
  return target_->real_path(path);
}

// An exclusive lock counts as a changing call, because it may create its file.
Result<std::unique_ptr<FileLock>> FaultEnv::lock(const std::string& path, LockKind kind) {
  if (kind == LockKind::kExclusive) XTTS_TRY(state_->ask("lock " + path));
  XTTS_TRY(state_->dead());
  return target_->lock(path, kind);
}

Result<LockScope> FaultEnv::lock_scope(const std::string& folder) {
  XTTS_TRY(state_->dead());
  return target_->lock_scope(folder);
}

Result<std::unique_ptr<ScratchFile>> FaultEnv::open_scratch(const std::string& folder) {
  XTTS_TRY(state_->ask("open_scratch in " + folder));
  XTTS_ASSIGN(auto file, xtts::open_scratch(*target_, folder));
  return std::unique_ptr<ScratchFile>(
      std::make_unique<FaultScratch<State>>(state_, folder, std::move(file)));
}

std::chrono::nanoseconds FaultEnv::now() {
  return target_->now();
}

void FaultEnv::sleep_for(std::chrono::nanoseconds duration) {
  target_->sleep_for(duration);
}

}  // namespace xtts::testing
