#include "formats/block.hpp"
#include "formats/bytes.hpp"
#include "tests/fuzz/formats/require.hpp"

namespace xtts::formats {
namespace {

void check(const BlockHeader& header) {
  std::uint64_t payload_bytes = 0;
  for (std::size_t slot = 0; slot < header.records.size(); ++slot) {
    const BlockRecord& record = header.records[slot];
    require(record.offset_bytes == payload_bytes, "records follow one another");
    payload_bytes += header.region_bytes(slot);
    require(record.length * header.column.row_bytes() <= header.region_bytes(slot),
            "a record fits its region");
    require(header.region_bytes(slot) <= kRecordBytesMax + kPackedAlignmentBytes,
            "a region is bounded");
  }
  require(payload_bytes == header.payload_bytes, "regions make the payload");
  const auto bytes = encode_block_header(header);
  const auto again = decode_block_header(bytes);
  require(again.ok(), "what was read can be written and read");
  require(encode_block_header(*again) == bytes, "writing is stable");
}

}  // namespace
}  // namespace xtts::formats

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtts::formats;
  (void)decode_block_header(as_bytes(data, size)).ok();
  const std::string bytes = sealed(data, size, kBlockHeaderBytes);
  if (const auto header = decode_block_header(bytes_of(bytes))) check(*header);
  return 0;
}
