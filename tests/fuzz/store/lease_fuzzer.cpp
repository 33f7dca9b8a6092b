// Any bytes as .build/lease, which other machines write: what is read can be written and read.
#include "store/builder_lease.hpp"
#include "tests/fuzz/formats/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtts;
  const auto lease = store::decode_lease({reinterpret_cast<const char*>(data), size});
  if (!lease) return 0;
  const std::string written = store::encode_lease(*lease);
  const auto again = store::decode_lease(written);
  formats::require(again && store::encode_lease(*again) == written, "writing is stable");
  return 0;
}
