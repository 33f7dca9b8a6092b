#include "formats/bytes.hpp"
#include "formats/index.hpp"
#include "tests/fuzz/formats/require.hpp"

namespace xtts::formats {
namespace {

constexpr std::size_t kFileBytesAt = 40;

void check(const IndexFooter& footer, std::uint64_t file_bytes) {
  std::uint64_t end = 0;
  for (const SectionEntry& section : footer.sections) {
    require(section.offset_bytes >= end, "sections follow one another");
    end = section.offset_bytes + section.size_bytes;
    require(end >= section.offset_bytes && end <= footer.data_bytes, "sections lie in the data");
    require(section_rows_fit(section.kind, section.size_bytes, section.row_count),
            "rows fill their section");
  }
  require(footer.data_bytes + 8 * footer.chunk_count + kIndexFooterBytes == file_bytes,
          "sizes add up");
  const std::string written = encode_index_footer(footer);
  const auto again = decode_index_footer(bytes_of(written), file_bytes);
  require(again.ok(), "what was read can be written and read");
  require(encode_index_footer(*again) == written, "writing is stable");
}

}  // namespace
}  // namespace xtts::formats

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtts::formats;
  (void)decode_index_footer(as_bytes(data, size), size).ok();
  const std::string bytes = sealed(data, size, kIndexFooterBytes);
  const auto file_bytes = load<std::uint64_t>(bytes_of(bytes), kFileBytesAt);
  if (const auto footer = decode_index_footer(bytes_of(bytes), file_bytes))
    check(*footer, file_bytes);
  return 0;
}
