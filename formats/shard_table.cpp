#include "formats/shard_table.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/constants.hpp"
#include "formats/preamble.hpp"

namespace xtts::formats {
namespace {

constexpr std::string_view kMagic = "XTTSSHD1";

// Lists headers, payloads and facts values by offset, without empty regions.
std::vector<ByteRange> checked_ranges(const ShardTable& table) {
  std::vector<ByteRange> ranges;
  ranges.reserve(3 * table.blocks.size());
  for (const BlockPlace& block : table.blocks) {
    ranges.push_back({block.header_offset, kBlockHeaderBytes});
    if (block.payload_bytes > 0) ranges.push_back({block.payload_offset, block.payload_bytes});
    ranges.push_back({block.facts_offset, block.facts_bytes});
  }
  std::ranges::sort(ranges, {}, &ByteRange::offset_bytes);
  return ranges;
}

Status refuse(std::size_t index, const char* problem) {
  return corrupt(formatted("shard table: block {}: {}", index, problem));
}

Status check_block(const BlockPlace& block, std::uint64_t file_bytes, std::size_t index) {
  const auto fail = [index](const char* problem) { return refuse(index, problem); };
  if (!lies_within<std::uint64_t>(block.header_offset, kBlockHeaderBytes, file_bytes)) {
    return fail("header lies outside the file");
  }
  if (!lies_within(block.payload_offset, block.payload_bytes, file_bytes)) {
    return fail("payload lies outside the file");
  }
  if (!lies_within(block.facts_offset, block.facts_bytes, file_bytes)) {
    return fail("facts lie outside the file");
  }
  if (block.facts_bytes < kBlockHeaderBytes ||
      (block.facts_bytes + kLmdbPageHeaderBytes) % kPageBytes != 0) {
    return fail("facts do not fill pages less 16 bytes");
  }
  return {};
}

// Payloads begin on pages, for O_DIRECT.
Status check_order_of_lmdb(const std::vector<BlockPlace>& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].payload_offset % kPageBytes != 0) {
      return refuse(i, "payload is not on a page boundary");
    }
  }
  return {};
}

// Checks three datasets without gaps. The payloads' dataset has a constant place.
Status check_order_of_hdf5(const std::vector<BlockPlace>& blocks) {
  std::uint64_t payload = kHdf5PayloadOffset;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const BlockPlace& block = blocks[i];
    if (block.payload_offset != payload) {
      return refuse(i, "payload does not follow the one before it");
    }
    payload += block.payload_bytes;  // lies within the file: no overflow
    if (i == 0) continue;
    const BlockPlace& before = blocks[i - 1];
    if (block.header_offset != before.header_offset + kBlockHeaderBytes) {
      return refuse(i, "header does not follow the one before it");
    }
    if (block.facts_offset != before.facts_offset + before.facts_bytes) {
      return refuse(i, "facts do not follow those before them");
    }
  }
  return {};
}

}  // namespace

Digest ShardTable::digest() const {
  std::string bytes(kMagic);
  append(bytes, file_bytes);
  append(bytes, structure_check);
  append(bytes, static_cast<std::uint32_t>(blocks.size()));
  append(bytes, std::uint32_t{0});
  for (const BlockPlace& block : blocks) {
    for (const std::uint64_t value :
         {block.header_offset, block.payload_offset, block.payload_bytes, block.facts_offset,
          block.facts_bytes, block.header_check, block.facts_check}) {
      append(bytes, value);
    }
  }
  return digest128(bytes);
}

Status ShardTable::validate(StoreKind store) const {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    XTTS_TRY(check_block(blocks[i], file_bytes, i));
  }
  XTTS_TRY(store == StoreKind::kHdf5 ? check_order_of_hdf5(blocks) : check_order_of_lmdb(blocks));
  std::uint64_t end = 0;
  for (const ByteRange& range : checked_ranges(*this)) {
    if (range.offset_bytes < end) {
      return corrupt(formatted("shard table: regions overlap at offset {}", range.offset_bytes));
    }
    end = range.offset_bytes + range.size_bytes;
  }
  return {};
}

std::vector<ByteRange> structure_ranges(const ShardTable& table) {
  std::vector<ByteRange> gaps;
  std::uint64_t end = 0;
  for (const ByteRange& range : checked_ranges(table)) {
    if (range.offset_bytes > end) gaps.push_back({end, range.offset_bytes - end});
    end = range.offset_bytes + range.size_bytes;
  }
  if (table.file_bytes > end) gaps.push_back({end, table.file_bytes - end});
  return gaps;
}

}  // namespace xtts::formats
