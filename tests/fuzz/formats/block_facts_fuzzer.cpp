#include <algorithm>

#include "base/checked.hpp"
#include "formats/bytes.hpp"
#include "formats/constants.hpp"
#include "formats/facts.hpp"
#include "tests/fuzz/formats/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtts::formats;
  (void)decode_block_facts(as_bytes(data, size)).ok();
  const std::size_t pages = xtts::align_up(std::max<std::size_t>(size + 24, 1), kPageBytes);
  const std::string bytes = sealed(data, size, pages - kLmdbPageHeaderBytes);
  const auto facts = decode_block_facts(bytes_of(bytes));
  if (!facts) return 0;
  require(!facts->records.empty() && facts->records.size() <= kBlockRecordsMax, "1 to 64 records");
  require(facts->sums.size() * 8 <= bytes.size(), "sums are bounded by the value");
  const std::string written = encode_block_facts(*facts);
  const auto again = decode_block_facts(bytes_of(written));
  require(again.ok(), "what was read can be written and read");
  require(encode_block_facts(*again) == written, "writing is stable");
  return 0;
}
