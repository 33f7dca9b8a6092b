#include "decode_worker/detail/channel.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace xtts::decode_worker::detail {

bool Channel::send(const Message& message) {
  const auto bytes = encode_message(message);
  const ssize_t sent = retry_interrupted(
      [&] { return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
  return sent == static_cast<ssize_t>(bytes.size());
}

bool Channel::wait(std::chrono::milliseconds timeout) const {
  const auto end = std::chrono::steady_clock::now() + timeout;
  pollfd wanted{socket_.get(), POLLIN, 0};
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    const auto left_ms = std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, INT_MAX);
    const int count = ::poll(&wanted, 1, static_cast<int>(left_ms));
    if (count >= 0 || errno != EINTR) return count > 0;
  }
}

std::variant<Message, NoMessage> Channel::receive(
    std::optional<std::chrono::milliseconds> timeout) {
  if (timeout.has_value() && !wait(*timeout)) return NoMessage::kTimeout;
  packet_.resize(kMessageBytesMax + 1);
  const ssize_t size =
      retry_interrupted([&] { return ::recv(socket_.get(), packet_.data(), packet_.size(), 0); });
  if (size <= 0) return NoMessage::kEnded;
  auto message = decode_message(std::span(packet_).first(static_cast<std::size_t>(size)));
  if (!message.has_value()) return NoMessage::kInvalid;
  return std::move(*message);
}

}  // namespace xtts::decode_worker::detail
