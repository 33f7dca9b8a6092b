// Any bytes as a line of the journal, with a right check: what is read can be written and read.
#include "base/hash.hpp"
#include "formats/json_fields.hpp"
#include "store/journal_line.hpp"
#include "tests/fuzz/formats/require.hpp"

namespace {

// `line` without its line feed.
template <typename Decode>
void require_round_trip(std::string_view line, Decode decode) {
  using namespace xtts;
  const auto read = decode(line);
  if (!read) return;
  std::string written = store::encode_line(*read);
  formats::require(written.ends_with('\n'), "a line ends");
  written.pop_back();
  const auto again = decode(written);
  formats::require(again.has_value(), "what was read can be written and read");
  formats::require(store::encode_line(*again) == written + "\n", "writing is stable");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtts;
  std::string line(reinterpret_cast<const char*>(data), size);
  require_round_trip(line, store::decode_head_line);
  line += '\t' + formats::check_to_hex(check64(as_bytes(std::string_view(line))));
  require_round_trip(line, store::decode_head_line);
  require_round_trip(line, store::decode_shard_line);
  return 0;
}
