#include "base/formatted.hpp"
#include "store/image_container.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/canonical_json.hpp"
#include "formats/constants.hpp"
#include "formats/enum_names.hpp"
#include "store/image_memory.hpp"
#include "store/lmdb_layout.hpp"

namespace xtts::store {
namespace {

using formats::BlockPlace;
using formats::kBlockHeaderBytes;
using formats::kLmdbPageHeaderBytes;
using formats::kPageBytes;

std::string key_of(std::string_view prefix, std::size_t block) {
  const std::string digits = std::to_string(block);
  return std::string(prefix) + std::string(5 - std::min<std::size_t>(5, digits.size()), '0') +
         digits;
}

std::string about(const formats::ColumnSpec& column) {
  return formats::dump_canonical({{"column", column.name},
                                  {"dtype", std::string(to_string(column.dtype))},
                                  {"format_version", formats::kFormatVersion},
                                  {"layout", std::string(formats::name_of(column.layout))},
                                  {"records_per_block", column.geometry().records_per_block},
                                  {"shape", column.shape}});
}

class LmdbContainer final : public ImageContainer {
 public:
  LmdbContainer(std::unique_ptr<LmdbLayout> layout, ImageMemory memory)
      : layout_(std::move(layout)), memory_(std::move(memory)) {}

  [[nodiscard]] Result<BlockMemory> add_block(const formats::BlockHeader& header,
                                              const formats::BlockFacts&) override {
    XTTS_ASSIGN(
        const std::span<std::byte> value,
        reserve(key_of("block/", header.block_index), kBlockHeaderBytes + header.payload_bytes));
    payload_bytes_.push_back(header.payload_bytes);
    return BlockMemory{.header = value.first(kBlockHeaderBytes),
                       .payload = value.subspan(kBlockHeaderBytes)};
  }

  [[nodiscard]] Result<LaidOutImage> finish(std::vector<std::string> facts) override {
    for (std::size_t block = 0; block < facts.size(); ++block) {
      const std::string value = std::exchange(facts[block], {});
      XTTS_ASSIGN(const auto memory, reserve(key_of("facts/", block), value.size()));
      std::ranges::copy(formats::bytes_of(value), memory.begin());
    }
    XTTS_TRY(layout_->finish());
    const auto pages = layout_->pages();
    XTTS_ASSIGN(const auto values, scan_large_values(pages));
    XTTS_TRY(memory_.grow_to(pages.size()));
    const auto image = memory_.bytes().first(pages.size());
    // Copies all but the values: whole tree and meta pages, and the page headers before the
    // values.
    std::vector<formats::ByteRange> ranges;
    for (const LargeValue& value : values)
      ranges.push_back({value.offset_bytes, value.page_count * kPageBytes - kLmdbPageHeaderBytes});
    XTTS_TRY(copy_structure(pages, "LMDB's values", ranges, image));
    layout_.reset();
    LaidOutImage laid_out{.bytes = image, .places = {}};
    XTTS_ASSIGN(laid_out.places, places_of(values));
    return laid_out;
  }

 private:
  // The image's memory for a value, at its offset in the file.
  [[nodiscard]] Result<std::span<std::byte>> reserve(const std::string& key,
                                                     std::uint64_t size_bytes) {
    XTTS_ASSIGN(const std::uint64_t offset, layout_->reserve(key, size_bytes));
    XTTS_TRY(memory_.grow_to(offset + size_bytes));
    return memory_.bytes().subspan(offset, size_bytes);
  }

  // `values` are all block headers with their payloads, then all facts, both in the order of
  // blocks.
  [[nodiscard]] Result<std::vector<BlockPlace>> places_of(
      std::span<const LargeValue> values) const {
    std::vector<BlockPlace> places(payload_bytes_.size());
    if (values.size() != 2 * places.size()) {
      return Status(
          StatusCode::kInternal,
          formatted("shard image: {} large values where two a block are expected", values.size()));
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      const LargeValue& block = values[i];
      const LargeValue& facts = values[places.size() + i];
      if (block.page_count !=
          1 + align_up<std::uint64_t>(payload_bytes_[i], kPageBytes) / kPageBytes) {
        return Status(StatusCode::kInternal,
                      formatted("shard image: block {}: value and payload differ in size", i));
      }
      places[i].header_offset = block.offset_bytes;
      places[i].payload_offset = block.offset_bytes + kBlockHeaderBytes;
      places[i].payload_bytes = payload_bytes_[i];
      places[i].facts_offset = facts.offset_bytes;
      places[i].facts_bytes = facts.page_count * kPageBytes - kLmdbPageHeaderBytes;
    }
    return places;
  }

  std::unique_ptr<LmdbLayout> layout_;  // until finish()
  ImageMemory memory_;
  std::vector<std::uint64_t> payload_bytes_;  // by block
};

}  // namespace

Result<std::unique_ptr<ImageContainer>> make_lmdb_container(const formats::ColumnSpec& column) {
  XTTS_ASSIGN(auto layout, LmdbLayout::open());
  XTTS_TRY(layout->put_small("about", about(column)));
  XTTS_ASSIGN(ImageMemory memory, ImageMemory::reserve(formats::kLmdbMapBytes));
  return std::unique_ptr<ImageContainer>(
      std::make_unique<LmdbContainer>(std::move(layout), std::move(memory)));
}

}  // namespace xtts::store
