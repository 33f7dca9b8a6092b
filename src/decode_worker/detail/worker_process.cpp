#include "decode_worker/detail/worker_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <string_view>
#include <thread>

#include "base/formatted.hpp"
#include "base/system_call.hpp"
#include "base/try.hpp"
#include "decode_worker/decode_worker.hpp"
#include "decode_worker/detail/containment.hpp"

namespace xtts::decode_worker::detail {
namespace {

// Above the worker's own descriptors, so that placing one never closes the other.
constexpr int kDescriptorMin = 10;

// The socket of a dying process closes a moment before it can be reaped. A process that lives
// longer than this has closed it on purpose.
constexpr std::chrono::milliseconds kDyingTimeMax{2000};

Status start_failure(const std::vector<std::string>& command, int error) {
  const bool is_scarce =
      error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE || error == ENOBUFS;
  return {is_scarce ? StatusCode::kResource : StatusCode::kInternal,
          formatted("{} cannot be started: {}", worker_name(command), error_words(error))};
}

// Moves a descriptor to another number. EMFILE if a number this high is above the limit.
Descriptor moved_up(int descriptor) {
  Descriptor moved(::fcntl(descriptor, F_DUPFD_CLOEXEC, kDescriptorMin));
  if (!moved.is_open() && errno == EINVAL) errno = EMFILE;
  return moved;
}

struct SocketPair {
  Descriptor ours;
  Descriptor theirs;
};

Result<SocketPair> socket_pair(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return start_failure(command, errno);
  SocketPair low{Descriptor(ends[0]), Descriptor(ends[1])};
  SocketPair pair{moved_up(low.ours.get()), moved_up(low.theirs.get())};
  if (!pair.ours.is_open() || !pair.theirs.is_open()) return start_failure(command, errno);
  // A worker that does not listen must not block us: sending to a full socket fails.
  if (::fcntl(pair.ours.get(), F_SETFL, O_NONBLOCK) != 0) return start_failure(command, errno);
  return pair;
}

// When the user stops the run, the worker finishes its present work: these signals are blocked even
// before it can ignore them. All other signals are as in a newly started program.
class SpawnSettings {
 public:
  SpawnSettings(int socket, int memory, int words) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    error_ = ::posix_spawn_file_actions_adddup2(&actions_, socket, kWorkerSocket);
    if (error_ == 0) error_ = ::posix_spawn_file_actions_adddup2(&actions_, memory, kWorkerMemory);
    // A sanitizer's report goes to the person who runs the tests.
    if (error_ == 0 && !kIsSanitized)
      error_ = ::posix_spawn_file_actions_adddup2(&actions_, words, STDERR_FILENO);
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&blocked, signal);
    sigset_t all;
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &blocked);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  int spawn(pid_t& process, const std::vector<std::string>& command) const {
    if (error_ != 0) return error_;
    std::vector<char*> arguments;
    for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    return ::posix_spawn(&process, arguments[0], &actions_, &attributes_, arguments.data(),
                         environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  int error_ = 0;
};

// The name of a signal that a program causes itself; nullptr for any other.
const char* crash_name(int signal) {
  static constexpr std::array kNames = {
      std::pair{SIGSEGV, "SIGSEGV"}, std::pair{SIGABRT, "SIGABRT"}, std::pair{SIGBUS, "SIGBUS"},
      std::pair{SIGFPE, "SIGFPE"},   std::pair{SIGILL, "SIGILL"},   std::pair{SIGTRAP, "SIGTRAP"},
      std::pair{SIGSYS, "SIGSYS"},
  };
  const auto* const found = std::ranges::find(kNames, signal, &std::pair<int, const char*>::first);
  return found == kNames.end() ? nullptr : found->second;
}

// A line of /proc/PROCESS/NAME; empty if the system has none. All users may read the ones that we
// use.
std::string line_about(const std::string& process, const char* name) {
  return read_kernel_text(formatted("/proc/{}/{}", process, name));
}

// The second number of a line.
std::optional<std::uint64_t> second_number(const std::string& line) {
  const std::size_t begin = line.find(' ');
  if (begin == std::string::npos) return std::nullopt;
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(line.data() + begin + 1, line.data() + line.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<std::chrono::nanoseconds> starved_time_of(const std::string& process) {
  const auto waited_ns = second_number(line_about(process, "schedstat"));
  if (!waited_ns) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(*waited_ns));
}

Status killed_from_outside(const std::string& how) {
  return {
      StatusCode::kSourceIo,
      formatted("its decoder was killed from outside ({}): tried again by the next build", how)};
}

}  // namespace

std::optional<std::chrono::nanoseconds> starved_time_of_this_thread() {
  return starved_time_of("thread-self");
}

std::string worker_name(const std::vector<std::string>& command) {
  std::string text = "the decoder's worker (";
  for (const auto& word : command) text += (&word == command.data() ? "" : " ") + word;
  return text + ")";
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::vector<std::string>& command,
                                                            const SharedMemory& memory) {
  if (command.empty()) return Status(StatusCode::kInternal, "no command for the decoder's worker");
  XTTS_ASSIGN(SocketPair pair, socket_pair(command));
  const Descriptor shared = moved_up(memory.descriptor());
  if (!shared.is_open()) return start_failure(command, errno);
  // A pipe could be full, so this is memory.
  const Descriptor low_words(::memfd_create("xtts-decode's words", MFD_CLOEXEC));
  if (!low_words.is_open()) return start_failure(command, errno);
  Descriptor words = moved_up(low_words.get());
  if (!words.is_open()) return start_failure(command, errno);
  pid_t process = 0;
  const int error =
      SpawnSettings(pair.theirs.get(), shared.get(), words.get()).spawn(process, command);
  if (error != 0) return start_failure(command, error);
  return std::unique_ptr<WorkerProcess>(
      new WorkerProcess(process, std::move(pair.ours), std::move(words)));
}

WorkerProcess::WorkerProcess(pid_t process, Descriptor socket, Descriptor words)
    : process_(process), channel_(std::move(socket)), words_(std::move(words)) {
  if (::clock_getcpuclockid(process, &cpu_clock_) != 0) cpu_clock_ = -1;
}

WorkerProcess::~WorkerProcess() {
  kill();
}

bool WorkerProcess::has_ended() {
  reap(WNOHANG);
  return is_reaped_;
}

std::optional<std::chrono::nanoseconds> WorkerProcess::cpu_time() const {
  timespec time{};
  if (cpu_clock_ == -1 || ::clock_gettime(cpu_clock_, &time) != 0) return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::optional<std::chrono::nanoseconds> WorkerProcess::starved_time() const {
  return starved_time_of(std::to_string(process_));
}

bool WorkerProcess::is_runnable() const {
  const std::string line = line_about(std::to_string(process_), "stat");  // "12 (name) R ..."
  const std::size_t end_of_name = line.rfind(')');
  return end_of_name != std::string::npos && line.compare(end_of_name, 3, ") R") == 0;
}

std::optional<std::uint64_t> WorkerProcess::resident_bytes() const {
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto pages = second_number(line_about(std::to_string(process_), "statm"));
  return pages ? std::optional(*pages * page_bytes) : std::nullopt;
}

std::string WorkerProcess::take_startup_error() {
  const Descriptor words = std::move(words_);
  std::array<char, 512> text{};
  const ssize_t size = ::pread(words.get(), text.data(), text.size(), 0);
  const std::string_view said(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  std::string line(said.substr(0, said.find('\n')));
  std::ranges::replace_if(
      line, [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

// The number names this process only until we reap it.
void WorkerProcess::kill() {
  if (is_reaped_) return;
  ::kill(process_, SIGKILL);
  reap(0);
}

void WorkerProcess::reap(int wait_flags) {
  if (is_reaped_) return;
  const pid_t reaped =
      retry_interrupted([&] { return ::waitpid(process_, &wait_status_, wait_flags); });
  if (reaped == 0) return;
  // If SIGCHLD is ignored, as by the program that started us, the system has reaped the worker, and
  // the cause of its death is lost.
  is_cause_known_ = reaped > 0;
  is_reaped_ = true;
}

Status WorkerProcess::wait_for_exit() {
  constexpr std::chrono::microseconds kPause{200};
  for (auto waited = kPause; !has_ended() && waited < kDyingTimeMax; waited += kPause)
    std::this_thread::sleep_for(kPause);
  if (!is_reaped_) {
    kill();
    return {StatusCode::kCrashed, "its decoder crashed (it hung up)"};
  }
  if (!is_cause_known_) return killed_from_outside("for an unknown reason");
  if (!WIFSIGNALED(wait_status_)) {
    return {StatusCode::kCrashed,
            formatted("its decoder crashed (exit code {})", WEXITSTATUS(wait_status_))};
  }
  const int signal = WTERMSIG(wait_status_);
  if (signal == SIGKILL)
    return killed_from_outside("SIGKILL; the system may have run out of memory");
  const char* const crash = crash_name(signal);
  if (crash == nullptr) return killed_from_outside(formatted("signal {}", signal));
  return {StatusCode::kCrashed, formatted("its decoder crashed ({})", std::string(crash))};
}

}  // namespace xtts::decode_worker::detail
