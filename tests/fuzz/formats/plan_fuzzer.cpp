#include "formats/manifest_trailer.hpp"
#include "formats/part_file.hpp"
#include "formats/plan.hpp"
#include "tests/fuzz/formats/require.hpp"

// The input is the object of plan.json without its last member, the digest. The head and the chunks
// of a part file get the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtts::formats;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)decode_part_head(bytes).ok();
  (void)decode_part_chunk(0, bytes).ok();
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)decode_plan(text).ok();
  if (text.empty()) return 0;
  const auto plan = decode_plan(append_manifest_trailer(text));
  if (!plan) return 0;
  const std::string written = encode_plan(*plan);
  const auto again = decode_plan(written);
  require(again.ok(), "what was written can be read");
  require(encode_plan(*again) == written, "writing is stable");
  return 0;
}
