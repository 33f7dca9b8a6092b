#include "reader/missing_file.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "base/formatted.hpp"
#include "base/system_call.hpp"
#include "base/try.hpp"
#include "reader/cache_paths.hpp"

namespace xtts::reader {
namespace {

constexpr const char* kFillerName = "filler";
constexpr std::size_t kFillerBytesMax = 64U << 10U;
constexpr std::size_t kAnswerBytesMax = 64U << 10U;

Status gone(const std::string& name, std::string_view how) {
  return {StatusCode::kResource,
          formatted("{} is not there yet, and the process that fetches it {}: open the cache again",
                    name, how)};
}

// A socket's address is short, so the folder is named by a descriptor.
Result<Descriptor> connect_to(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const Descriptor folder(::open(path.substr(0, slash).c_str(), O_PATH | O_CLOEXEC));
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::string short_path =
      formatted("/proc/self/fd/{}/{}", folder.get(), path.substr(slash + 1));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!folder.is_open() || !socket.is_open() || short_path.size() >= sizeof address.sun_path) {
    return system_failure("connecting to", path, errno);
  }
  std::memcpy(address.sun_path, short_path.data(), short_path.size());
  const int result = retry_interrupted([&] {
    return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  });
  if (result != 0) return system_failure("connecting to", path, errno);
  return socket;
}

bool send_all(const Descriptor& socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = retry_interrupted(
        [&] { return ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL); });
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Returns what came after the last sign of work, up to the end of the connection. Failures: nothing
// came for too long.
Result<std::string> receive_answer(const Descriptor& socket, const std::string& name) {
  std::string answer;
  std::array<char, 4096> piece{};
  while (answer.size() <= kAnswerBytesMax) {
    const ssize_t got =
        retry_interrupted([&] { return ::recv(socket.get(), piece.data(), piece.size(), 0); });
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return gone(name, "does not answer");
    if (got <= 0) break;
    answer.append(piece.data(), static_cast<std::size_t>(got));
    answer.erase(0, answer.find_first_not_of('.'));
  }
  return answer;
}

}  // namespace

Status fetch_missing(Env& env, const std::string& cache, const std::string& name,
                     std::chrono::seconds patience) {
  XTTS_ASSIGN(const std::string filler,
              read_text_file(env, join_path(cache, kFillerName), kFillerBytesMax));
  const std::size_t line_end = filler.find('\n');
  if (!filler.starts_with('/') || line_end + 1 >= filler.size() || !filler.ends_with('\n')) {
    return {StatusCode::kNotFound, "there is no filler"};
  }
  const std::string prefix = filler.substr(line_end + 1, filler.size() - line_end - 2);
  const auto socket = connect_to(filler.substr(0, line_end));
  if (!socket.ok()) return gone(name, "has ended");
  const timeval wait{.tv_sec = patience.count(), .tv_usec = 0};
  ::setsockopt(socket->get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  ::setsockopt(socket->get(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  if (!send_all(*socket, prefix + name + "\n")) return gone(name, "has ended");
  XTTS_ASSIGN(const std::string answer, receive_answer(*socket, name));
  if (answer == "o") return {};
  if (answer.starts_with('e')) return {StatusCode::kResource, answer.substr(1)};
  return gone(name, "has ended");
}

}  // namespace xtts::reader
