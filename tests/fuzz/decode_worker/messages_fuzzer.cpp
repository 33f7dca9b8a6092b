// Any bytes as a message of a decode worker, which has read a hostile file: what is read can be
// written and read.
#include "decode_worker/detail/messages.hpp"
#include "tests/fuzz/formats/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtts;
  using namespace xtts::decode_worker::detail;
  const auto message = decode_message(formats::as_bytes(data, size));
  if (!message) return 0;
  const auto written = encode_message(*message);
  formats::require(written.size() <= kMessageBytesMax, "a message fits");
  const auto again = decode_message(written);
  formats::require(again && again->index() == message->index() && encode_message(*again) == written,
                   "writing is stable");
  return 0;
}
