#include "formats/reject.hpp"
#include "tests/fuzz/formats/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtts::formats;
  const auto reject = decode_reject(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!reject) return 0;
  const auto again = decode_reject(encode_reject(*reject));
  require(again.ok(), "what was read can be written and read");
  require(*again == *reject, "a reject comes back as it was");
  return 0;
}
