#include "figure/draw_figure.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include "base/system_call.hpp"
#include "base/try.hpp"
#include "figure/figure_json.hpp"

namespace xtts::figure {
namespace {

// Above the standard three, so that placing one never closes another.
constexpr int kDescriptorMin = 3;

Status start_failure(const std::string& program, int error) {
  const bool is_scarce = error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
  return {is_scarce ? StatusCode::kResource : StatusCode::kInternal,
          "the program " + program + " cannot be started: " + error_words(error)};
}

// Files in memory carry what goes in and comes out. A pipe could be full on both sides.
Result<Descriptor> memory_file(const std::string& program) {
  const Descriptor low(::memfd_create("xtts-draw", MFD_CLOEXEC));
  Descriptor file(low.is_open() ? ::fcntl(low.get(), F_DUPFD_CLOEXEC, kDescriptorMin) : -1);
  if (!file.is_open()) return start_failure(program, errno);
  return file;
}

Result<std::string> whole_text(const Descriptor& file) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0)
    return Status(StatusCode::kResource, "a file in memory: " + error_words(errno));
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  XTTS_ASSIGN(const std::size_t size,
              read_fully(file.get(), "xtts-draw", 0, std::as_writable_bytes(std::span(text))));
  text.resize(size);
  return text;
}

// Returns the process; negative: the failure's errno.
pid_t spawn(const std::string& program, PictureKind kind, const std::array<int, 3>& standard) {
  posix_spawn_file_actions_t actions;
  int error = ::posix_spawn_file_actions_init(&actions);
  if (error != 0) return -error;
  for (int number = 0; number < 3 && error == 0; ++number)
    error = ::posix_spawn_file_actions_adddup2(
        &actions, standard.at(static_cast<std::size_t>(number)), number);
  std::string name = program;
  std::string ending = kind == PictureKind::kPng ? "png" : "svg";
  std::array<char*, 3> arguments{name.data(), ending.data(), nullptr};
  pid_t process = 0;
  if (error == 0)
    error = ::posix_spawn(&process, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? process : -error;
}

// Libraries write to the standard error, too. Only lines of the program itself are for the user.
std::vector<std::string> notes_in(std::string_view said) {
  constexpr std::string_view kOwn = "xtts-draw: ";
  std::vector<std::string> notes;
  while (!said.empty()) {
    const std::string_view line = said.substr(0, said.find('\n'));
    if (line.starts_with(kOwn)) notes.emplace_back(line.substr(kOwn.size()));
    said.remove_prefix(std::min(line.size() + 1, said.size()));
  }
  return notes;
}

// The exit codes of src/draw/main.cpp; 127 is the system's loader, which lacks a library.
StatusCode code_of(int wait_status) {
  const int exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1;
  if (exit_code == 2 || exit_code == 127) return StatusCode::kUnsupported;
  return exit_code == 3 ? StatusCode::kResource : StatusCode::kInternal;
}

Status failure_of(const std::string& program, int wait_status, const std::string& said) {
  const std::vector<std::string> notes = notes_in(said);
  std::string why = notes.empty() ? said.substr(0, said.find('\n')) : notes.front();
  if (WIFSIGNALED(wait_status)) {
    why = "signal " + std::to_string(WTERMSIG(wait_status)) + (why.empty() ? "" : ", " + why);
  } else if (why.empty()) {
    why = wait_status == 0 ? "it wrote nothing"
                           : "exit code " + std::to_string(WEXITSTATUS(wait_status));
  }
  return {code_of(wait_status), "no picture could be drawn (" + program + "): " + why};
}

}  // namespace

Result<Picture> draw_figure(const std::string& program, const Figure& figure, PictureKind kind) {
  XTTS_ASSIGN(const Descriptor in, memory_file(program));
  XTTS_ASSIGN(const Descriptor out, memory_file(program));
  XTTS_ASSIGN(const Descriptor words, memory_file(program));
  const std::string json = to_json(figure);
  XTTS_TRY(write_fully(in.get(), "xtts-draw's figure", std::as_bytes(std::span(json))));
  if (::lseek(in.get(), 0, SEEK_SET) != 0) return start_failure(program, errno);
  const pid_t process = spawn(program, kind, {in.get(), out.get(), words.get()});
  if (process < 0) return start_failure(program, -process);
  int wait_status = 0;
  // If this program ignores SIGCHLD, the end of a child cannot be asked for: the bytes say it.
  const bool is_known =
      retry_interrupted([&] { return ::waitpid(process, &wait_status, 0); }) == process;
  XTTS_ASSIGN(std::string bytes, whole_text(out));
  XTTS_ASSIGN(const std::string said, whole_text(words));
  if ((is_known && wait_status != 0) || bytes.empty())
    return failure_of(program, wait_status, said);
  return Picture{std::move(bytes), notes_in(said)};
}

}  // namespace xtts::figure
