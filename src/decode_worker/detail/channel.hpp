// Channel: one end of the socket between parent and worker; a message is one packet. One thread at
// a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "base/system_call.hpp"
#include "decode_worker/detail/messages.hpp"

namespace xtts::decode_worker::detail {

enum class NoMessage {
  kTimeout,  // nothing came in time
  kEnded,    // the other side is gone
  kInvalid,  // the bytes are no message
};

class Channel {
 public:
  Channel() = default;
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  // Returns false if the other side is gone.
  [[nodiscard]] bool send(const Message& message);
  // Without a timeout it waits for ever.
  [[nodiscard]] std::variant<Message, NoMessage> receive(
      std::optional<std::chrono::milliseconds> timeout);

 private:
  // Returns false when the time is up.
  [[nodiscard]] bool wait(std::chrono::milliseconds timeout) const;

  Descriptor socket_;
  std::vector<std::byte> packet_;
};

}  // namespace xtts::decode_worker::detail
