#include "fault_env.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "base/try.hpp"

namespace xtts::testing {

struct FaultEnv::State {
  Env* target = nullptr;
  std::optional<Fault> fault;
  std::optional<std::uint64_t> room_bytes;
  std::uint64_t call_count = 0;
  std::atomic<bool> is_dead = false;  // asked by the threads that read, too
  std::string failed_call;
  std::set<std::string> unsafe_paths;  // whose last sync failed
  std::vector<std::string> misuse;

  [[nodiscard]] Status dead() const {
    return is_dead ? Status(StatusCode::kResource, "the process is dead") : Status();
  }

  // Asked before every call that changes anything.
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

template <typename State>
class FaultFile final : public WritableFile {
 public:
  FaultFile(std::shared_ptr<State> state, std::string path, std::unique_ptr<WritableFile> file)
      : state_(std::move(state)), path_(std::move(path)), file_(std::move(file)) {}

  [[nodiscard]] Status append(std::span<const std::byte> bytes) override {
    const std::string what = "append " + path_;
    state_->forbid_after_failed_sync(path_, what);
    if (Status status = state_->ask(what); !status.ok()) {
      const double share =
          state_->failed_call == what && state_->fault ? state_->fault->torn_share : 0;
      const auto count = static_cast<std::size_t>(share * static_cast<double>(bytes.size()));
      XTTS_TRY(file_->append(bytes.first(std::min(count, bytes.size()))));
      return status;
    }
    if (state_->room_bytes && bytes.size() > *state_->room_bytes) {
      XTTS_TRY(file_->append(bytes.first(*state_->room_bytes)));
      state_->room_bytes = 0;
      return {StatusCode::kResource, "writing " + path_ + ": No space left on device"};
    }
    if (state_->room_bytes) *state_->room_bytes -= bytes.size();
    return file_->append(bytes);
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

FaultEnv::FaultEnv(Env& target) : state_(std::make_shared<State>()) {
  state_->target = &target;
}
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

Result<std::unique_ptr<RandomAccessFile>> FaultEnv::open_for_read(const std::string& path) {
  XTTS_TRY(state_->dead());
  return state_->target->open_for_read(path);
}

Result<std::unique_ptr<WritableFile>> FaultEnv::open_for_write(const std::string& path,
                                                               WriteMode mode) {
  XTTS_TRY(state_->ask("open_for_write " + path));
  if (mode == WriteMode::kTruncate) state_->unsafe_paths.erase(path);
  XTTS_ASSIGN(auto file, state_->target->open_for_write(path, mode));
  return std::unique_ptr<WritableFile>(
      std::make_unique<FaultFile<State>>(state_, path, std::move(file)));
}

Result<FileFacts> FaultEnv::stat(const std::string& path) {
  XTTS_TRY(state_->dead());
  return state_->target->stat(path);
}

Result<std::vector<DirectoryEntry>> FaultEnv::list(const std::string& path) {
  XTTS_TRY(state_->dead());
  return state_->target->list(path);
}

Status FaultEnv::create_directories(const std::string& path) {
  XTTS_TRY(state_->ask("create_directories " + path));
  return state_->target->create_directories(path);
}

Status FaultEnv::rename(const std::string& from, const std::string& to) {
  const std::string what = "rename " + from;
  state_->forbid_after_failed_sync(from, what);
  XTTS_TRY(state_->ask(what));
  state_->unsafe_paths.erase(to);
  return state_->target->rename(from, to);
}

Status FaultEnv::link(const std::string& from, const std::string& to) {
  const std::string what = "link " + from;
  state_->forbid_after_failed_sync(from, what);
  XTTS_TRY(state_->ask(what));
  return state_->target->link(from, to);
}

Status FaultEnv::remove_file(const std::string& path) {
  XTTS_TRY(state_->ask("remove_file " + path));
  state_->unsafe_paths.erase(path);
  return state_->target->remove_file(path);
}

Status FaultEnv::remove_directory(const std::string& path) {
  XTTS_TRY(state_->ask("remove_directory " + path));
  return state_->target->remove_directory(path);
}

Status FaultEnv::sync_directory(const std::string& path) {
  XTTS_TRY(state_->ask("sync_directory " + path));
  return state_->target->sync_directory(path);
}

Result<std::uint64_t> FaultEnv::free_bytes(const std::string& path) {
  XTTS_TRY(state_->dead());
  return state_->target->free_bytes(path);
}

Result<std::string> FaultEnv::real_path(const std::string& path) {
  XTTS_TRY(state_->dead());
  return state_->target->real_path(path);
}

// An exclusive lock may create its file.
Result<std::unique_ptr<FileLock>> FaultEnv::lock(const std::string& path, LockKind kind) {
  if (kind == LockKind::kExclusive) XTTS_TRY(state_->ask("lock " + path));
  XTTS_TRY(state_->dead());
  return state_->target->lock(path, kind);
}

Result<LockReach> FaultEnv::lock_reach(const std::string& folder) {
  XTTS_TRY(state_->dead());
  return state_->target->lock_reach(folder);
}

std::chrono::nanoseconds FaultEnv::now() {
  return state_->target->now();
}

void FaultEnv::sleep_for(std::chrono::nanoseconds duration) {
  state_->target->sleep_for(duration);
}

}  // namespace xtts::testing
