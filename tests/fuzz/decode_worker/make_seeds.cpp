// Writes a seed for each kind of message.
//   make_message_seeds tests/fuzz/decode_worker/seeds
#include <filesystem>
#include <fstream>

#include "decode_worker/detail/messages.hpp"

namespace {

using namespace xtts::decode_worker::detail;

template <std::size_t... kinds>
std::vector<Message> one_of_each(std::index_sequence<kinds...>) {
  return {Message(std::in_place_index<kinds>)...};
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) return 2;
  auto messages = one_of_each(std::make_index_sequence<std::variant_size_v<Message>>());
  messages.emplace_back(Failed{3, "the header is damaged", 5});
  messages.emplace_back(Ready{kProtocolVersion, "0.1.0", "libavcodec 59"});
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto bytes = encode_message(messages[i]);
    std::ofstream out(std::filesystem::path(arguments[1]) / std::to_string(i), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) return 1;
  }
  return 0;
}
