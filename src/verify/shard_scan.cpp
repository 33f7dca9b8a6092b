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

// Takes the header in `page`, if there is one. Returns the pages that it and its payload take.
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

std::uint64_t find(Bytes bytes, std::uint64_t from, std::string_view magic) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::min<std::uint64_t>(text.find(magic, from), bytes.size());
}

// A facts value does not tell its length: the right length makes its check right. Returns true if
// there is one.
bool take_facts(Bytes bytes, std::uint64_t offset, BlockPlace& place) {
  const std::uint64_t end = find(bytes, offset + 1, kFactsMagic);
  for (std::uint64_t size = kPageBytes - kLmdbPageHeaderBytes; offset + size <= end;
       size += kPageBytes) {
    const Bytes value = bytes.subspan(offset, size);
    if (!formats::decode_block_facts(value)) continue;
    place.facts_offset = offset;
    place.facts_bytes = size;
    place.facts_check = formats::stored_facts_check(value);
    return true;
  }
  return false;
}

// Headers, payloads and facts values begin 16 bytes into pages.
void scan_lmdb(Bytes bytes, std::vector<BlockPlace>& blocks) {
  std::size_t facts_count = 0;
  for (std::uint64_t page = 0; page < bytes.size() / kPageBytes;) {
    if (begins_with(bytes, page, kBlockMagic)) {
      page += take_block(bytes, page, blocks);
      continue;
    }
    if (begins_with(bytes, page, kFactsMagic) && facts_count < blocks.size()) {
      BlockPlace& place = blocks[facts_count++];
      if (take_facts(bytes, page * kPageBytes + kLmdbPageHeaderBytes, place)) {
        page += (place.facts_bytes + kLmdbPageHeaderBytes) / kPageBytes;
        continue;
      }
    }
    ++page;
  }
}

// Payloads follow one another from a fixed byte on. Headers follow them, then facts values.
void scan_hdf5(Bytes bytes, std::vector<BlockPlace>& blocks) {
  std::uint64_t payload_offset = formats::kHdf5PayloadOffset;
  std::uint64_t at = find(bytes, payload_offset, kBlockMagic);
  while (bytes.size() - at >= kBlockHeaderBytes) {
    const Bytes value = bytes.subspan(at, kBlockHeaderBytes);
    const auto header = formats::decode_block_header(value);
    if (header && header->block_index == blocks.size()) {
      blocks.push_back({.header_offset = at,
                        .payload_offset = payload_offset,
                        .payload_bytes = header->payload_bytes,
                        .facts_offset = 0,
                        .facts_bytes = 0,
                        .header_check = formats::stored_header_check(value),
                        .facts_check = 0,
                        .record_count = static_cast<std::uint16_t>(header->records.size())});
      payload_offset += header->payload_bytes;
      at += kBlockHeaderBytes;
    } else if (blocks.empty()) {  // the bytes of a payload, by chance
      at = find(bytes, at + 1, kBlockMagic);
    } else {
      break;
    }
  }
  at = find(bytes, at, kFactsMagic);
  for (BlockPlace& place : blocks) {
    if (at == bytes.size() || !take_facts(bytes, at, place)) return;
    at += place.facts_bytes;
  }
}

}  // namespace

Result<formats::ShardTable> scan_shard(std::span<const std::byte> bytes, formats::StoreKind store) {
  formats::ShardTable table;
  table.file_bytes = bytes.size();
  if (store == formats::StoreKind::kHdf5) {
    scan_hdf5(bytes, table.blocks);
  } else {
    scan_lmdb(bytes, table.blocks);
  }
  XTTS_TRY(table.validate(store));
  Hasher64 structure;
  for (const formats::ByteRange& range : formats::structure_ranges(table))
    structure.update(bytes.subspan(range.offset_bytes, range.size_bytes));
  table.structure_check = structure.finish();
  return table;
}

}  // namespace xtts::verify
