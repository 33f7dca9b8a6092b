#include "store/shard_image.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/try.hpp"
#include "store/fill.hpp"
#include "store/hdf5_container.hpp"
#include "store/hdf5_library.hpp"
#include "store/image_container.hpp"
#include "store/image_table.hpp"
#include "store/lmdb_container.hpp"

namespace xtts::store {
namespace {

using formats::BlockFacts;
using formats::BlockHeader;
using formats::ColumnSpec;
using formats::StoreKind;

// From here on five digits would not sort any more. 1 GiB has room for 87,000 blocks of three pages
// each.
constexpr std::uint32_t kBlocksMax = 100'000;

Status invalid(std::string problem) {
  return {StatusCode::kInvalidArgument, "shard image: " + std::move(problem)};
}

class ContainedImage final : public ShardImage {
 public:
  ContainedImage(ColumnSpec column, StoreKind store, std::uint64_t generation,
                 std::unique_ptr<ImageContainer> container)
      : column_(std::move(column)),
        store_(store),
        generation_(generation),
        container_(std::move(container)) {}

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
    XTTS_ASSIGN(const BlockMemory memory, container_->add_block(header, facts));
    XTTS_TRY(write_payload(records, header, memory.payload));
    const auto encoded = formats::encode_block_header(header);
    std::ranges::copy(encoded, memory.header.begin());
    facts.block_index = header.block_index;
    facts_.push_back(formats::encode_block_facts(facts));
    ++block_count_;
    record_count_ += records.size();
    return {};
  }

  [[nodiscard]] std::uint32_t block_count() const override { return block_count_; }

  [[nodiscard]] Result<FinishedImage> finish() override {
    if (finished_) return invalid("finished twice");
    if (block_count_ == 0) return invalid("it has no block");
    finished_ = true;
    XTTS_ASSIGN(const LaidOutImage laid_out, container_->finish(std::move(facts_)));
    FinishedImage finished{
        .table = {}, .record_count = record_count_, .store = store_, .bytes = laid_out.bytes};
    XTTS_ASSIGN(finished.table, read_table(laid_out.bytes, laid_out.places, store_));
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
    if (block_count_ == kBlocksMax) return invalid("more than 100,000 blocks");
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

  const ColumnSpec column_;
  const StoreKind store_;
  const std::uint64_t generation_;
  const std::unique_ptr<ImageContainer> container_;
  std::vector<std::string> facts_;  // encoded; gone after finish()
  std::uint32_t block_count_ = 0;
  std::uint64_t record_count_ = 0;
  bool finished_ = false;
};

}  // namespace

Status prepare_store(StoreKind store) {
  return store == StoreKind::kHdf5 ? load_hdf5() : Status();
}

Result<std::unique_ptr<ShardImage>> make_image(const ColumnSpec& column, StoreKind store,
                                               std::uint64_t generation) {
  XTTS_TRY(column.validate());
  if (generation == 0) return invalid("generations count from 1");
  XTTS_ASSIGN(auto container, store == StoreKind::kHdf5 ? make_hdf5_container(column)
                                                        : make_lmdb_container(column));
  return std::unique_ptr<ShardImage>(
      std::make_unique<ContainedImage>(column, store, generation, std::move(container)));
}

}  // namespace xtts::store
