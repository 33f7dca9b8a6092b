#include "verify/shard_scan.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/checked.hpp"
#include "base/env.hpp"
#include "base/hash.hpp"
#include "base/try.hpp"
#include "formats/block.hpp"
#include "formats/facts.hpp"

namespace xtts::verify {
namespace {

using formats::BlockPlace;
using formats::kBlockHeaderBytes;
using formats::kLmdbPageHeaderBytes;
using formats::kPageBytes;
using Bytes = std::span<const std::byte>;

constexpr std::string_view kBlockMagic = "XTTSBLK1";
constexpr std::string_view kFactsMagic = "XTTSFCT1";

bool begins_with(Bytes bytes, std::uint64_t page, std::string_view magic) {
  const std::uint64_t at = page * kPageBytes + kLmdbPageHeaderBytes;
  return at + magic.size() <= bytes.size() &&
         std::ranges::equal(bytes.subspan(at, magic.size()), as_bytes(magic));
}

// The header that lies in `page`, where it is one; the pages that it and its payload take.
std::uint64_t take_block(Bytes bytes, std::uint64_t page, std::vector<BlockPlace>& blocks) {
  const std::uint64_t offset = page * kPageBytes + kLmdbPageHeaderBytes;
  if (bytes.size() - offset < kBlockHeaderBytes) return 1;
  const Bytes value = bytes.subspan(offset, kBlockHeaderBytes);
  const auto header = formats::decode_block_header(value);
  if (!header || header->block_index != blocks.size()) return 1;
  blocks.push_back({.header_offset = offset,
                    .payload_offset = offset + kBlockHeaderBytes,
                    .payload_bytes = header->payload_bytes,
                    .facts_offset = 0,
                    .facts_bytes = 0,
                    .header_check = formats::stored_header_check(value),
                    .facts_check = 0,
                    .record_count = static_cast<std::uint16_t>(header->records.size())});
  return 1 + align_up<std::uint64_t>(header->payload_bytes, kPageBytes) / kPageBytes;
}

// How many pages a facts value has it does not say: so many as make its check right.
std::uint64_t take_facts(Bytes bytes, std::uint64_t page, BlockPlace& place) {
  const std::uint64_t offset = page * kPageBytes + kLmdbPageHeaderBytes;
  const std::uint64_t page_count = bytes.size() / kPageBytes;
  for (std::uint64_t pages = 1; page + pages <= page_count; ++pages) {
    const Bytes value = bytes.subspan(offset, pages * kPageBytes - kLmdbPageHeaderBytes);
    if (formats::decode_block_facts(value)) {
      place.facts_offset = offset;
      place.facts_bytes = value.size();
      place.facts_check = formats::stored_facts_check(value);
      return pages;
    }
    if (begins_with(bytes, page + pages, kFactsMagic)) break;
  }
  return 1;
}

}  // namespace

Result<formats::ShardTable> scan_shard(std::span<const std::byte> bytes) {
  formats::ShardTable table;
  table.file_bytes = bytes.size();
  std::size_t facts_count = 0;
  for (std::uint64_t page = 0; page < bytes.size() / kPageBytes;) {
    if (begins_with(bytes, page, kBlockMagic)) {
      page += take_block(bytes, page, table.blocks);
    } else if (begins_with(bytes, page, kFactsMagic) && facts_count < table.blocks.size()) {
      page += take_facts(bytes, page, table.blocks[facts_count]);
      ++facts_count;
    } else {
      ++page;
    }
  }
  XTTS_TRY(table.validate());
  Hasher64 structure;
  for (const formats::ByteRange& range : formats::structure_ranges(table))
    structure.update(bytes.subspan(range.offset_bytes, range.size_bytes));
  table.structure_check = structure.finish();
  return table;
}

}  // namespace xtts::verify
