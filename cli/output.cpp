#include "cli/output.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace xtts::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10U;

// Returns 0 or errno.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Output::Output(int descriptor, Buffering buffering)
    : descriptor_(descriptor), buffering_(buffering), is_terminal_(::isatty(descriptor) == 1) {}

void Output::write(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (failure_ != 0) return;
  buffer_ += text;
  if (buffering_ == Buffering::kNone || buffer_.size() >= kBufferBytes) flush_locked();
}

void Output::flush() {
  const std::lock_guard lock(mutex_);
  flush_locked();
}

void Output::flush_locked() {
  if (failure_ == 0) failure_ = write_all(descriptor_, buffer_);
  buffer_.clear();
}

Status Output::finish() {
  const std::lock_guard lock(mutex_);
  flush_locked();
  if (failure_ == 0 || failure_ == EPIPE) return {};
  return {StatusCode::kResource,
          "writing the output: " + std::generic_category().message(failure_)};
}

bool Output::is_abandoned() const {
  const std::lock_guard lock(mutex_);
  return failure_ == EPIPE;
}

std::size_t Output::width() const {
  winsize size{};
  if (::ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // open() takes the lowest free number, which is this one. The wrong direction on purpose:
    // writing to a closed stdout must fail, not vanish.
    (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace xtts::cli
