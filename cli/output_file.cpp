#include "cli/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/formatted.hpp"
#include "base/system_call.hpp"
#include "base/try.hpp"
#include "cli/output.hpp"
#include "cli/stop_signal.hpp"

namespace xtts::cli {
namespace {

constexpr std::chrono::milliseconds kLookForReader{20};

bool is_same_node(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool is_descriptor(const struct stat& wanted, int descriptor) {
  struct stat info {};
  return ::fstat(descriptor, &info) == 0 && is_same_node(wanted, info);
}

Status as_written(int error, const std::string& path) {
  if (error == 0) return {};
  if (error == EINTR) return {StatusCode::kCancelled, "stopped while writing " + path};
  if (error == EPIPE)
    return {StatusCode::kResource, formatted("writing {}: nobody reads it", path)};
  return system_failure("writing", path, error);
}

// A FIFO without a reader cannot be opened without waiting.
Result<Descriptor> open_through(const std::string& path, bool is_fifo) {
  for (;;) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0) return Descriptor(fd);
    if (errno != EINTR && !(is_fifo && errno == ENXIO))
      return system_failure("opening", path, errno);
    if (stop_requested())
      return Status(StatusCode::kCancelled, "stopped while nobody was reading " + path);
    std::this_thread::sleep_for(kLookForReader);
  }
}

Status write_through(const std::string& path, const struct stat& expected, std::string_view bytes) {
  XTTS_ASSIGN(const Descriptor fd, open_through(path, S_ISFIFO(expected.st_mode)));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !is_same_node(info, expected))
    return {StatusCode::kResource, path + " was replaced meanwhile"};
  return as_written(write_all(fd.get(), bytes), path);
}

// Writes through a link whose target does not exist yet.
Status write_new(Env& env, const std::string& path, std::string_view bytes) {
  XTTS_ASSIGN(const auto file, env.open_for_write(path, WriteMode::kTruncate));
  XTTS_TRY(file->append(as_bytes(bytes)));
  XTTS_TRY(file->sync());
  return file->close();
}

Status replace(Env& env, const std::string& path, std::string_view bytes) {
  const GracefulStopScope graceful_stop;
  return replace_file(env, path, as_bytes(bytes)).with_context("writing " + path);
}

}  // namespace

Status write_output_file(Env& env, const std::string& path, std::string_view bytes) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return system_failure("examining", path, errno);
    const bool is_link = ::lstat(path.c_str(), &info) == 0;
    return is_link ? write_new(env, path, bytes) : replace(env, path, bytes);
  }
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    if (is_descriptor(info, descriptor)) return as_written(write_all(descriptor, bytes), path);
  }
  if (S_ISREG(info.st_mode)) {
    XTTS_ASSIGN(const std::string target, env.real_path(path));
    return replace(env, target, bytes);
  }
  if (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)) return write_through(path, info, bytes);
  const char* const kind = S_ISDIR(info.st_mode)    ? "a folder"
                           : S_ISSOCK(info.st_mode) ? "a socket"
                                                    : "a disk";
  return {StatusCode::kInvalidArgument,
          formatted("{} is {}: name a file, a FIFO or /dev/stdout", path, kind)};
}

bool is_standard_output(const std::string& path) {
  struct stat info {};
  return !path.empty() && ::stat(path.c_str(), &info) == 0 && is_descriptor(info, STDOUT_FILENO);
}

}  // namespace xtts::cli
