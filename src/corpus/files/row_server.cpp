#include "corpus/files/row_server.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/env.hpp"
#include "base/fork_count.hpp"
#include "base/formatted.hpp"
#include "base/run_program.hpp"
#include "base/system_call.hpp"
#include "base/try.hpp"
#include "corpus/files/names.hpp"

namespace xtts::corpus {

extern const char* const kRowServer;

namespace {

constexpr const char* kSystemPython = "/usr/bin/python3";
// A disk may be slow, and importing pyarrow from it, too.
constexpr timeval kPatience{.tv_sec = 120, .tv_usec = 0};
constexpr std::uint64_t kAnswerBytesMax = std::uint64_t{1} << 30U;
constexpr std::uint64_t kMessageBytesMax = 4096;
constexpr int kDescriptorMin = 3;  // start_program() places these

struct Answer {
  char kind = 0;  // as row_server.py says
  std::vector<std::byte> bytes;
};

std::string text_of(const Answer& answer) {
  return printable({reinterpret_cast<const char*>(answer.bytes.data()), answer.bytes.size()});
}

// One conversation. The process, if it is ours, ends with it.
class Talk {
 public:
  Talk(Descriptor socket, pid_t process) : socket_(std::move(socket)), process_(process) {
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  }
  ~Talk() {
    if (process_ > 0 && forks_ == fork_count()) (void)end_program(process_);
  }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  // nullopt: the talk is over, and how_it_ended() says why.
  std::optional<Answer> ask(std::string_view request) {
    const auto size_bytes = static_cast<std::uint32_t>(request.size());
    if (!send(std::as_bytes(std::span(&size_bytes, 1))) || !send(as_bytes(request)))
      return std::nullopt;
    return receive();
  }

  std::optional<Answer> receive() {
    Answer answer;
    std::uint64_t size_bytes = 0;
    if (!receive(std::as_writable_bytes(std::span(&answer.kind, 1))) ||
        !receive(std::as_writable_bytes(std::span(&size_bytes, 1))))
      return std::nullopt;
    const bool is_known = std::string_view("obsu").find(answer.kind) != std::string_view::npos;
    if (!is_known || size_bytes > (answer.kind == 'o' ? kAnswerBytesMax : kMessageBytesMax)) {
      end_ = "it answered with what is no answer";
      return std::nullopt;
    }
    answer.bytes.resize(size_bytes);
    if (!receive(answer.bytes)) return std::nullopt;
    return answer;
  }

  // "signal 11". Ends the process.
  std::string how_it_ended() {
    if (!end_.empty() || process_ <= 0) return end_.empty() ? "it hung up" : end_;
    const auto status = end_program(std::exchange(process_, 0));
    if (!status) return "it ended";
    if (WIFSIGNALED(*status)) return formatted("signal {}", WTERMSIG(*status));
    return formatted("exit code {}", WEXITSTATUS(*status));
  }

 private:
  bool send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = retry_interrupted(
          [&] { return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
      if (!is_going_on(sent)) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }
  bool receive(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t got =
          retry_interrupted([&] { return ::recv(socket_.get(), bytes.data(), bytes.size(), 0); });
      if (!is_going_on(got)) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }
  bool is_going_on(ssize_t count) {
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      end_ = formatted("no answer in {} s", kPatience.tv_sec);
    return count > 0;
  }

  Descriptor socket_;
  pid_t process_;
  const std::uint32_t forks_ = fork_count();
  std::string end_;
};

Status system_refusal(const char* what) {
  return {StatusCode::kResource, formatted("cannot be read: {}: {}", what, error_words(errno))};
}

// A process that has said that it is ready; kUnsupported: this Python has no pyarrow.
Result<std::unique_ptr<Talk>> start(const std::string& python) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return system_refusal("socketpair");
  Descriptor ours(ends[0]);
  const Descriptor low(ends[1]);
  const Descriptor theirs(::fcntl(low.get(), F_DUPFD_CLOEXEC, kDescriptorMin));
  const Descriptor low_null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Descriptor null(::fcntl(low_null.get(), F_DUPFD_CLOEXEC, kDescriptorMin));
  if (!theirs.is_open() || !null.is_open()) return system_refusal("descriptors");
  XTTS_ASSIGN(const pid_t process,
              start_program({python, "-c", kRowServer}, {theirs.get(), null.get(), null.get()}));
  return std::make_unique<Talk>(std::move(ours), process);
}

std::vector<std::string> pythons() {
  std::vector<std::string> names;
  if (const char* const given = std::getenv("XTTS_PYTHON"); given != nullptr && *given != '\0')
    names.emplace_back(given);
  names.insert(names.end(), {"python3", kSystemPython});
  return names;
}

// The first Python that has pyarrow, ready for requests.
Result<std::unique_ptr<Talk>> find_python() {
  std::string said;
  for (const std::string& python : pythons()) {
    auto talk = start(python);
    if (!talk && talk.status().code() == StatusCode::kResource) return talk;
    std::string fault = "is not there";
    if (talk) {
      const auto ready = (*talk)->receive();
      if (ready && ready->kind == 'o') return talk;
      fault = ready ? text_of(*ready) : "ended: " + (*talk)->how_it_ended();
    }
    said += formatted("{}{}: {}", said.empty() ? "" : "; ", printable(python), fault);
  }
  return Status(StatusCode::kUnsupported,
                formatted("is read by pyarrow, which no Python here has ({}): `python3 -m venv "
                          "arrow && arrow/bin/pip install pyarrow && export "
                          "XTTS_PYTHON=\"$PWD/arrow/bin/python\"` brings it",
                          said));
}

// The caller that serves rows in memory listens in its own folder.
Result<std::unique_ptr<Talk>> connect_to(const std::string& folder) {
  const std::string path = join_path(folder, kRowSocket);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return system_refusal("socket");
  if (path.size() >= sizeof address.sun_path) errno = ENAMETOOLONG;
  ucred caller{};
  socklen_t size_bytes = sizeof caller;
  path.copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
  const bool is_connected =
      path.size() < sizeof address.sun_path &&
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &caller, &size_bytes) == 0;
  if (!is_connected || caller.uid != ::geteuid()) {
    return Status(
        StatusCode::kSourceIo,
        "has rows of a program that no longer serves them: they had no file to read again");
  }
  return std::make_unique<Talk>(std::move(socket), 0);
}

struct Server {
  std::mutex mutex;
  std::string served_in;  // empty: our own process
  std::unique_ptr<Talk> talk;
  const std::uint32_t forks = fork_count();
};

// A forked child leaves its parent's talk alone, and has another.
Server& server() {
  static std::mutex mutex;
  static std::unique_ptr<Server> shared;
  const std::scoped_lock lock(mutex);
  if (shared != nullptr && shared->forks != fork_count()) (void)shared.release();
  if (shared == nullptr) shared = std::make_unique<Server>();
  return *shared;
}

Status status_of(const Answer& answer) {
  switch (answer.kind) {
    case 'b':
      return {StatusCode::kBadInput, text_of(answer)};
    case 'u':
      return {StatusCode::kUnsupported, text_of(answer)};
    default:
      return {StatusCode::kSourceIo, text_of(answer)};
  }
}

}  // namespace

Result<std::vector<std::byte>> ask_row_server(std::initializer_list<std::string_view> words,
                                              const std::string& served_in) {
  std::string request;
  for (const std::string_view word : words) request.append(word).push_back('\0');
  request.pop_back();
  Server& server = corpus::server();
  const std::scoped_lock lock(server.mutex);
  std::string end;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (server.talk == nullptr || server.served_in != served_in) {
      server.talk = nullptr;
      XTTS_ASSIGN(server.talk, served_in.empty() ? find_python() : connect_to(served_in));
      server.served_in = served_in;
    }
    auto answer = server.talk->ask(request);
    if (answer && answer->kind == 'o') return std::move(answer->bytes);
    if (answer) return status_of(*answer);
    end = server.talk->how_it_ended();
    server.talk = nullptr;
  }
  return Status(StatusCode::kSourceIo,
                formatted("ended the Python that reads it, twice ({})", end));
}

}  // namespace xtts::corpus
