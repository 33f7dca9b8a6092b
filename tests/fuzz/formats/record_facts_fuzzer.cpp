#include "formats/bytes.hpp"
#include "formats/facts.hpp"
#include "tests/fuzz/formats/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtts::formats;
  const auto facts = decode_facts(as_bytes(data, size));
  if (!facts) return 0;
  std::string written;
  append_facts(*facts, written);
  require(written.size() == size, "facts are written in as many bytes as they were read from");
  const auto again = decode_facts(bytes_of(written));
  require(again.ok(), "what was read can be written and read");
  std::string twice;
  append_facts(*again, twice);
  require(twice == written, "writing is stable");
  return 0;
}
