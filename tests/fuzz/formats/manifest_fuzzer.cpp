#include "formats/manifest.hpp"
#include "formats/manifest_trailer.hpp"
#include "tests/fuzz/formats/require.hpp"

// The input is the manifest's object without its last member, the digest.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtts::formats;
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)decode_manifest(text).ok();
  if (text.empty()) return 0;
  const auto manifest = decode_manifest(append_manifest_trailer(text));
  if (!manifest) return 0;
  const auto written = encode_manifest(*manifest);
  require(written.ok(), "what was read can be written");
  const auto again = decode_manifest(*written);
  require(again.ok(), "what was written can be read");
  require(*encode_manifest(*again) == *written, "writing is stable");
  return 0;
}
