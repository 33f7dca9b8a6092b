#include "base/run_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <span>
#include <thread>
#include <utility>

#include "base/formatted.hpp"
#include "base/system_call.hpp"
#include "base/try.hpp"

namespace xtts {
namespace {

using Clock = std::chrono::steady_clock;

// Above the standard three, so that placing one never closes another.
constexpr int kDescriptorMin = 3;
// A short program is waited for in short steps, a long one in long steps.
constexpr std::chrono::microseconds kStepMin{200};
constexpr std::chrono::microseconds kStepMax{10'000};

Status start_failure(const std::string& program, int error) {
  const bool is_scarce = error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
  StatusCode code = StatusCode::kUnsupported;
  if (is_scarce) code = StatusCode::kResource;
  if (error == ENOENT) code = StatusCode::kNotFound;
  return {code, formatted("the program {} cannot be started: {}", program, error_words(error))};
}

Result<Descriptor> memory_file(const std::string& program) {
  const Descriptor low(::memfd_create("xtts-program", MFD_CLOEXEC));
  Descriptor file(low.is_open() ? ::fcntl(low.get(), F_DUPFD_CLOEXEC, kDescriptorMin) : -1);
  if (!file.is_open()) return start_failure(program, errno);
  return file;
}

std::uint64_t size_of(const Descriptor& file) {
  struct stat facts {};
  return ::fstat(file.get(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

Result<std::string> whole_text(const Descriptor& file) {
  std::string text(size_of(file), '\0');
  XTTS_ASSIGN(const std::size_t size, read_fully(file.get(), "a program's output", 0,
                                                 std::as_writable_bytes(std::span(text))));
  text.resize(size);
  return text;
}

// Returns the arguments as exec() takes them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Returns the process; negative: the failure's errno.
pid_t spawn(const std::vector<std::string>& arguments, const std::array<int, 3>& standard) {
  posix_spawn_file_actions_t actions;
  int error = ::posix_spawn_file_actions_init(&actions);
  if (error != 0) return -error;
  posix_spawnattr_t attributes;
  error = ::posix_spawnattr_init(&attributes);
  if (error != 0) {
    ::posix_spawn_file_actions_destroy(&actions);
    return -error;
  }
  // A handler's signals come to the child as they are by default, and SIGPIPE ends it.
  sigset_t none;
  sigset_t defaults;
  ::sigemptyset(&none);
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  for (int number = 0; number < 3 && error == 0; ++number)
    error = ::posix_spawn_file_actions_adddup2(
        &actions, standard.at(static_cast<std::size_t>(number)), number);
  std::vector<std::string> texts = arguments;
  const std::vector<char*> pointers = pointers_to(texts);
  pid_t process = 0;
  if (error == 0) {
    error =
        ::posix_spawnp(&process, pointers.front(), &actions, &attributes, pointers.data(), environ);
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? process : -error;
}

}  // namespace

Result<pid_t> start_program(const std::vector<std::string>& arguments,
                            const std::array<int, 3>& standard) {
  const pid_t process = spawn(arguments, standard);
  if (process < 0) return start_failure(arguments.front(), -process);
  return process;
}

std::optional<int> end_program(pid_t process) {
  ::kill(-process, SIGKILL);
  int wait_status = 0;
  const pid_t ended = retry_interrupted([&] { return ::waitpid(process, &wait_status, 0); });
  return ended == process ? std::optional(wait_status) : std::nullopt;
}

Result<ProgramResult> run_program(const ProgramRun& run) {
  const std::string& program = run.arguments.front();
  XTTS_ASSIGN(const Descriptor in, memory_file(program));
  XTTS_ASSIGN(const Descriptor out, memory_file(program));
  XTTS_ASSIGN(const Descriptor errors, memory_file(program));
  XTTS_TRY(write_fully(in.get(), "a program's input", std::as_bytes(std::span(run.input))));
  if (::lseek(in.get(), 0, SEEK_SET) != 0) return start_failure(program, errno);
  const Clock::time_point begin = Clock::now();
  XTTS_ASSIGN(const pid_t process,
              start_program(run.arguments, {in.get(), out.get(), errors.get()}));

  ProgramResult result;
  std::chrono::microseconds step = kStepMin;
  for (;;) {
    int wait_status = 0;
    const pid_t ended =
        retry_interrupted([&] { return ::waitpid(process, &wait_status, WNOHANG); });
    if (ended < 0) {
      result.end = ProgramEnd::kUnknown;
      break;
    }
    if (ended == process) {
      const bool is_signalled = WIFSIGNALED(wait_status);
      result.end = is_signalled ? ProgramEnd::kSignalled : ProgramEnd::kExited;
      result.code = is_signalled ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
      ::kill(-process, SIGKILL);  // children that it has left behind
      break;
    }
    if (run.time_limit.count() > 0 && Clock::now() - begin > run.time_limit) {
      (void)end_program(process);
      result.end = ProgramEnd::kTimedOut;
      break;
    }
    if (run.cancelled && run.cancelled()) {
      (void)end_program(process);
      return Status(StatusCode::kCancelled, program + " was stopped");
    }
    std::this_thread::sleep_for(step);
    step = std::min(step * 2, kStepMax);
  }
  XTTS_ASSIGN(result.output, whole_text(out));
  XTTS_ASSIGN(result.errors, whole_text(errors));
  return result;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.substr(text.find_last_of('\n') + 1);  // npos + 1 is 0
}

Status become_program(std::vector<std::string> arguments) {
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // what is ignored would stay so
  const std::vector<char*> pointers = pointers_to(arguments);
  ::execvp(pointers.front(), pointers.data());
  return start_failure(arguments.front(), errno);
}

}  // namespace xtts
