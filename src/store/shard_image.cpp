#include "store/shard_image.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/formatted.hpp"
#include "base/hash.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/constants.hpp"
#include "store/fill.hpp"
#include "store/hdf5_library.hpp"

namespace xtts::store {
namespace {

using formats::BlockFacts;
using formats::BlockHeader;
using formats::BlockPlace;
using formats::ColumnSpec;
using formats::kBlockHeaderBytes;
using formats::StoreKind;

// Keys have five digits, which would not sort beyond this number. 1 GiB has room for 87,000 blocks
// of three pages each.
constexpr std::uint32_t kBlocksMax = 100'000;

Status invalid(const std::string& problem) {
  return {StatusCode::kInvalidArgument, "shard image: " + problem};
}

Status internal(const std::string& problem) {
  return {StatusCode::kInternal, "shard image: " + problem};
}

constexpr std::string_view kFactsMagic = "XTTSFCT1";
constexpr std::size_t kFactsBlockIndexAt = 28;
constexpr std::size_t kCheckBytes = 8;

Status check_block(const ColumnSpec& column, std::span<const PendingRecord> records,
                   const BlockFacts& facts) {
  const std::uint32_t most = column.geometry().records_per_block;
  if (records.empty() || records.size() > most) {
    return invalid(formatted("a block of {} records; 1 to {} make one of column {}", records.size(),
                             most, column.name));
  }
  if (facts.records.size() != records.size()) return invalid("facts and records differ in number");
  if (facts.sums.size() % 2 != 0) return invalid("an odd number of sums");
  for (std::size_t slot = 0; slot < records.size(); ++slot) {
    const PendingRecord& record = records[slot];
    if (record.length > column.shape[0] ||
        record.rows.size() != record.length * column.row_bytes()) {
      return invalid(formatted("record {} has {} bytes for {} of {} rows of {} bytes", slot,
                               record.rows.size(), record.length, column.shape[0],
                               column.row_bytes()));
    }
  }
  return {};
}

Status write_payload(std::span<const PendingRecord> records, BlockHeader& header,
                     std::span<std::byte> payload) {
  for (std::size_t slot = 0; slot < records.size(); ++slot) {
    const std::span<const std::byte> rows = records[slot].rows;
    const auto region =
        payload.subspan(header.records[slot].offset_bytes, header.region_bytes(slot));
    std::ranges::copy(rows, region.begin());
    const auto rest = region.subspan(rows.size());
    if (header.column.layout == formats::Layout::kPadded) {
      XTTS_ASSIGN(const FillElement fill,
                  fill_element(header.column.dtype, records[slot].fill_bits));
      fill_with(fill, rest);
    } else {
      std::ranges::fill(rest, std::byte{0});
    }
    // Computed from the bytes in the image, while they are in the processor's cache.
    header.records[slot].check = formats::record_check(header, slot, region);
  }
  return {};
}

// The table of a finished image is read from its final bytes (cache-v1.md, section 7). Every
// header and facts value is checked as a reader would check it, so no faulty image reaches a disk.
Status wrong(std::size_t block, const std::string& problem) {
  return internal(formatted("block {}: {}", block, problem));
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
  // Not decoded in full: the texts of 168,000 tokens records would take a tenth of a second.
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

Result<formats::ShardTable> read_table(std::span<const std::byte> image,
                                       std::vector<BlockPlace> places, StoreKind store) {
  formats::ShardTable table;
  table.file_bytes = image.size();
  table.blocks = std::move(places);
  // Validated first, because the rest follows the places.
  if (Status status = table.validate(store); !status.ok()) return internal(status.message());
  for (std::size_t i = 0; i < table.blocks.size(); ++i) {
    XTTS_TRY(read_header(image, i, table.blocks[i]));
    XTTS_TRY(read_facts(image, i, table.blocks[i]));
  }
  table.structure_check = check_of(image, formats::structure_ranges(table));
  return table;
}

}  // namespace

Status ShardImage::add_block(std::span<const PendingRecord> records, BlockFacts facts) {
  if (finished_) return invalid("a block after finish()");
  XTTS_TRY(check_block(column_, records, facts));
  if (block_count() == kBlocksMax) return invalid("more than 100,000 blocks");
  BlockHeader header{.column = column_,
                     .block_index = block_count(),
                     .generation = generation_,
                     .payload_bytes = 0,
                     .records = {}};
  for (const PendingRecord& record : records) {
    header.records.push_back({.id_hash = record.id_hash,
                              .offset_bytes = 0,
                              .length = record.length,
                              .fill_bits = record.fill_bits,
                              .check = 0});
  }
  header.payload_bytes = formats::lay_out_records(column_, header.records);
  XTTS_ASSIGN(const BlockMemory memory, container_->add_block(header, facts));
  XTTS_TRY(write_payload(records, header, memory.payload));
  const auto encoded = formats::encode_block_header(header);
  std::ranges::copy(encoded, memory.header.begin());
  facts.block_index = header.block_index;
  facts_.push_back(formats::encode_block_facts(facts));
  record_count_ += records.size();
  return {};
}

Result<FinishedImage> ShardImage::finish() {
  if (finished_) return invalid("finished twice");
  if (facts_.empty()) return invalid("it has no block");
  finished_ = true;
  XTTS_ASSIGN(const LaidOutImage laid_out, container_->finish(std::move(facts_)));
  FinishedImage finished{
      .table = {}, .record_count = record_count_, .store = store_, .bytes = laid_out.bytes};
  XTTS_ASSIGN(finished.table, read_table(laid_out.bytes, laid_out.places, store_));
  return finished;
}

Status copy_structure(std::span<const std::byte> pages, const char* what,
                      std::span<const formats::ByteRange> values, std::span<std::byte> image) {
  std::uint64_t position = 0;
  const auto copy_until = [&](std::uint64_t end) {
    std::ranges::copy(pages.subspan(position, end - position),
                      image.begin() + static_cast<std::ptrdiff_t>(position));
  };
  for (const formats::ByteRange& value : values) {
    if (value.offset_bytes < position ||
        !lies_within<std::uint64_t>(value.offset_bytes, value.size_bytes, pages.size())) {
      return internal(std::string(what) + " overlap or lie outside their file");
    }
    copy_until(value.offset_bytes);
    position = value.offset_bytes + value.size_bytes;
  }
  copy_until(pages.size());
  return {};
}

Status prepare_store(StoreKind store) {
  return store == StoreKind::kHdf5 ? load_hdf5() : Status();
}

Result<std::unique_ptr<ShardImage>> make_image(const ColumnSpec& column, StoreKind store,
                                               std::uint64_t generation) {
  XTTS_TRY(column.validate());
  if (generation == 0) return invalid("generations count from 1");
  XTTS_ASSIGN(auto container, store == StoreKind::kHdf5 ? make_hdf5_container(column)
                                                        : make_lmdb_container(column));
  return std::make_unique<ShardImage>(column, store, generation, std::move(container));
}

}  // namespace xtts::store
