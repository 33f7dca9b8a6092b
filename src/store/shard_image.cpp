#include "store/shard_image.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/canonical_json.hpp"
#include "formats/constants.hpp"
#include "formats/enum_names.hpp"
#include "store/fill.hpp"
#include "store/image_memory.hpp"
#include "store/image_table.hpp"
#include "store/lmdb_layout.hpp"

namespace xtts::store {
namespace {

using formats::BlockFacts;
using formats::BlockHeader;
using formats::ColumnSpec;
using formats::kBlockHeaderBytes;
using formats::kLmdbPageHeaderBytes;
using formats::kPageBytes;

// From here on five digits would not sort any more. 1 GiB has room for 87,000 blocks of three pages
// each.
constexpr std::uint32_t kBlocksMax = 100'000;

Status invalid(std::string problem) {
  return {StatusCode::kInvalidArgument, "shard image: " + std::move(problem)};
}

std::string key_of(std::string_view prefix, std::uint32_t block) {
  const std::string digits = std::to_string(block);
  return std::string(prefix) + std::string(5 - std::min<std::size_t>(5, digits.size()), '0') +
         digits;
}

std::string about(const ColumnSpec& column) {
  return formats::dump_canonical({{"column", column.name},
                                  {"dtype", std::string(to_string(column.dtype))},
                                  {"format_version", formats::kFormatVersion},
                                  {"layout", std::string(formats::name_of(column.layout))},
                                  {"records_per_block", column.geometry().records_per_block},
                                  {"shape", column.shape}});
}

class LmdbShardImage final : public ShardImage {
 public:
  LmdbShardImage(ColumnSpec column, std::uint64_t generation, std::unique_ptr<LmdbLayout> layout,
                 ImageMemory memory)
      : column_(std::move(column)),
        generation_(generation),
        layout_(std::move(layout)),
        memory_(std::move(memory)) {}

  [[nodiscard]] Status add_block(std::span<const PendingRecord> records,
                                 BlockFacts facts) override {
    if (finished_) return invalid("a block after finish()");
    XTTS_TRY(check_block(records, facts));
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
    XTTS_ASSIGN(
        const std::span<std::byte> value,
        reserve(key_of("block/", header.block_index), kBlockHeaderBytes + header.payload_bytes));
    XTTS_TRY(write_payload(records, header, value.subspan(kBlockHeaderBytes)));
    const auto encoded = formats::encode_block_header(header);
    std::ranges::copy(encoded, value.begin());
    facts.block_index = header.block_index;
    facts_.push_back(formats::encode_block_facts(facts));
    record_count_ += records.size();
    return {};
  }

  [[nodiscard]] std::uint32_t block_count() const override {
    return static_cast<std::uint32_t>(facts_.size());
  }

  [[nodiscard]] Result<FinishedImage> finish() override {
    if (finished_) return invalid("finished twice");
    if (facts_.empty()) return invalid("it has no block");
    finished_ = true;
    for (std::uint32_t block = 0; block < block_count(); ++block) {
      const std::string facts = std::exchange(facts_[block], {});
      XTTS_ASSIGN(const auto value, reserve(key_of("facts/", block), facts.size()));
      std::ranges::copy(formats::bytes_of(facts), value.begin());
    }
    XTTS_TRY(layout_->finish());
    const auto pages = layout_->pages();
    XTTS_ASSIGN(const auto values, scan_large_values(pages));
    XTTS_TRY(memory_.grow_to(pages.size()));
    const auto image = memory_.bytes().first(pages.size());
    copy_structure(pages, values, image);
    layout_.reset();
    FinishedImage finished{.table = {}, .record_count = record_count_, .bytes = image};
    XTTS_ASSIGN(finished.table, read_table(image, values));
    return finished;
  }

 private:
  [[nodiscard]] Status check_block(std::span<const PendingRecord> records,
                                   const BlockFacts& facts) const {
    const std::uint32_t most = column_.geometry().records_per_block;
    if (records.empty() || records.size() > most) {
      return invalid("a block of " + std::to_string(records.size()) + " records; 1 to " +
                     std::to_string(most) + " make one of column " + column_.name);
    }
    if (facts.records.size() != records.size())
      return invalid("facts and records differ in number");
    if (facts.sums.size() % 2 != 0) return invalid("an odd number of sums");
    if (block_count() == kBlocksMax) return invalid("more than 100,000 blocks");
    for (std::size_t slot = 0; slot < records.size(); ++slot) {
      const PendingRecord& record = records[slot];
      if (record.length > column_.shape[0] ||
          record.rows.size() != record.length * column_.row_bytes()) {
        return invalid("record " + std::to_string(slot) + " has " +
                       std::to_string(record.rows.size()) + " bytes for " +
                       std::to_string(record.length) + " of " + std::to_string(column_.shape[0]) +
                       " rows of " + std::to_string(column_.row_bytes()) + " bytes");
      }
    }
    return {};
  }

  // The memory of a value, at its offset in the file.
  [[nodiscard]] Result<std::span<std::byte>> reserve(const std::string& key,
                                                     std::uint64_t size_bytes) {
    XTTS_ASSIGN(const std::uint64_t offset, layout_->reserve(key, size_bytes));
    XTTS_TRY(memory_.grow_to(offset + size_bytes));
    return memory_.bytes().subspan(offset, size_bytes);
  }

  [[nodiscard]] Status write_payload(std::span<const PendingRecord> records, BlockHeader& header,
                                     std::span<std::byte> payload) const {
    for (std::size_t slot = 0; slot < records.size(); ++slot) {
      const std::span<const std::byte> rows = records[slot].rows;
      const auto region =
          payload.subspan(header.records[slot].offset_bytes, header.region_bytes(slot));
      std::ranges::copy(rows, region.begin());
      const auto rest = region.subspan(rows.size());
      if (column_.layout == formats::Layout::kPadded) {
        XTTS_ASSIGN(const FillElement fill, fill_element(column_.dtype, records[slot].fill_bits));
        fill_with(fill, rest);
      } else {
        std::ranges::fill(rest, std::byte{0});
      }
      // Of the bytes as they lie in the image, while they are in the processor's cache.
      header.records[slot].check = formats::record_check(header, slot, region);
    }
    return {};
  }

  // Everything that is not a value: whole tree and meta pages, and the page headers before the
  // values.
  static void copy_structure(std::span<const std::byte> pages, std::span<const LargeValue> values,
                             std::span<std::byte> image) {
    std::uint64_t position = 0;
    const auto copy_until = [&](std::uint64_t end) {
      std::ranges::copy(pages.subspan(position, end - position),
                        image.begin() + static_cast<std::ptrdiff_t>(position));
    };
    for (const LargeValue& value : values) {
      copy_until(value.offset_bytes);
      position = value.offset_bytes - kLmdbPageHeaderBytes + value.page_count * kPageBytes;
    }
    copy_until(pages.size());
  }

  const ColumnSpec column_;
  const std::uint64_t generation_;
  std::unique_ptr<LmdbLayout> layout_;  // until finish()
  ImageMemory memory_;
  std::vector<std::string> facts_;  // encoded; empty strings after finish()
  std::uint64_t record_count_ = 0;
  bool finished_ = false;
};

}  // namespace

Result<std::unique_ptr<ShardImage>> make_lmdb_image(const ColumnSpec& column,
                                                    std::uint64_t generation) {
  XTTS_TRY(column.validate());
  if (generation == 0) return invalid("generations count from 1");
  XTTS_ASSIGN(auto layout, LmdbLayout::open());
  XTTS_TRY(layout->put_small("about", about(column)));
  XTTS_ASSIGN(ImageMemory memory, ImageMemory::reserve(formats::kLmdbMapBytes));
  return std::unique_ptr<ShardImage>(
      std::make_unique<LmdbShardImage>(column, generation, std::move(layout), std::move(memory)));
}

}  // namespace xtts::store
