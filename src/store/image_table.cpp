#include "store/image_table.hpp"

#include <string>
#include <utility>

#include "base/hash.hpp"
#include "base/try.hpp"
#include "formats/block.hpp"
#include "formats/bytes.hpp"
#include "formats/constants.hpp"
#include "formats/facts.hpp"

namespace xtts::store {
namespace {

using formats::BlockPlace;
using formats::kBlockHeaderBytes;

constexpr std::string_view kFactsMagic = "XTTSFCT1";
constexpr std::size_t kFactsBlockIndexAt = 28;
constexpr std::size_t kCheckBytes = 8;

Status wrong(std::size_t block, const std::string& problem) {
  return {StatusCode::kInternal, "shard image: block " + std::to_string(block) + ": " + problem};
}

Status read_header(std::span<const std::byte> image, std::size_t index, BlockPlace& place) {
  const auto bytes = image.subspan(place.header_offset, kBlockHeaderBytes);
  const auto header = formats::decode_block_header(bytes);
  if (!header) return wrong(index, header.status().message());
  if (header->block_index != index) return wrong(index, "header of another block");
  if (header->payload_bytes != place.payload_bytes) {
    return wrong(index, "its place and its header differ in size");
  }
  place.header_check = formats::stored_header_check(bytes);
  place.record_count = static_cast<std::uint16_t>(header->records.size());
  return {};
}

Status read_facts(std::span<const std::byte> image, std::size_t index, BlockPlace& place) {
  const auto bytes = image.subspan(place.facts_offset, place.facts_bytes);
  place.facts_check = formats::stored_facts_check(bytes);
  // Not decoded in full: 168,000 records of tokens have a tenth of a second's worth of texts in
  // them.
  if (formats::text_of(bytes.first(kFactsMagic.size())) != kFactsMagic ||
      formats::load<std::uint32_t>(bytes, kFactsBlockIndexAt) != index ||
      check64(bytes.first(bytes.size() - kCheckBytes)) != place.facts_check) {
    return wrong(index, "its facts do not lie where they should");
  }
  return {};
}

std::uint64_t check_of(std::span<const std::byte> image,
                       std::span<const formats::ByteRange> ranges) {
  Hasher64 hasher;
  for (const formats::ByteRange& range : ranges) {
    hasher.update(image.subspan(range.offset_bytes, range.size_bytes));
  }
  return hasher.finish();
}

}  // namespace

Result<formats::ShardTable> read_table(std::span<const std::byte> image,
                                       std::vector<BlockPlace> places, formats::StoreKind store) {
  formats::ShardTable table;
  table.file_bytes = image.size();
  table.blocks = std::move(places);
  // First, because the rest goes where the places lead.
  if (Status status = table.validate(store); !status.ok()) {
    return Status(StatusCode::kInternal, "shard image: " + status.message());
  }
  for (std::size_t i = 0; i < table.blocks.size(); ++i) {
    XTTS_TRY(read_header(image, i, table.blocks[i]));
    XTTS_TRY(read_facts(image, i, table.blocks[i]));
  }
  table.structure_check = check_of(image, formats::structure_ranges(table));
  return table;
}

}  // namespace xtts::store
