#include "base/formatted.hpp"
#include "store/image_container.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "formats/bytes.hpp"
#include "formats/clip_id.hpp"
#include "formats/constants.hpp"
#include "store/hdf5_description.hpp"
#include "store/hdf5_layout.hpp"
#include "store/hdf5_library.hpp"
#include "store/image_memory.hpp"

namespace xtts::store {
namespace {

using formats::BlockHeader;
using formats::BlockPlace;
using formats::ByteRange;
using formats::kBlockHeaderBytes;
using formats::kHdf5PayloadOffset;

// The limit on an id's size: one long id costs this much for each of 168,000 tokens records.
constexpr std::size_t kIdBytesMax = 256;

Status internal(const std::string& problem) {
  return {StatusCode::kInternal, "shard image: " + problem};
}

std::size_t cut_size(std::string_view id) {
  return id.size() <= kIdBytesMax ? id.size() : utf8_valid_bytes(id.substr(0, kIdBytesMax));
}

// Writes numbers one after the other to a dataset's place.
template <typename T>
void write_numbers(const std::vector<T>& numbers, std::span<std::byte> out) {
  for (std::size_t i = 0; i < numbers.size(); ++i) formats::store(out, i * sizeof(T), numbers[i]);
}

// Sorts ranges. An empty dataset comes before the dataset that shares its offset.
std::vector<ByteRange> in_order(std::vector<ByteRange> ranges) {
  std::ranges::sort(ranges, {}, [](const ByteRange& range) {
    return std::pair(range.offset_bytes, range.size_bytes);
  });
  return ranges;
}

class Hdf5Container final : public ImageContainer {
 public:
  Hdf5Container(formats::ColumnSpec column, ImageMemory memory)
      : column_(std::move(column)), memory_(std::move(memory)) {}

  [[nodiscard]] Result<BlockMemory> add_block(const BlockHeader& header,
                                              const formats::BlockFacts& facts) override {
    const std::uint64_t offset = kHdf5PayloadOffset + payload_bytes_;
    XTTS_TRY(make_room(offset + header.payload_bytes));
    for (std::size_t slot = 0; slot < header.records.size(); ++slot) {
      const formats::BlockRecord& record = header.records[slot];
      lengths_.push_back(record.length);
      offsets_.push_back((payload_bytes_ + record.offset_bytes) / size_bytes(column_.dtype));
      add_id(formats::full_id(facts.records[slot]));
    }
    BlockPlace place;
    place.payload_offset = offset;
    place.payload_bytes = header.payload_bytes;
    places_.push_back(place);
    payload_bytes_ += header.payload_bytes;
    headers_.resize(headers_.size() + kBlockHeaderBytes);
    return BlockMemory{.header = std::span(headers_).last(kBlockHeaderBytes),
                       .payload = memory_.bytes().subspan(offset, header.payload_bytes)};
  }

  [[nodiscard]] Result<LaidOutImage> finish(std::vector<std::string> facts) override {
    std::vector<std::uint64_t> facts_offsets = {0};
    for (const std::string& value : facts)
      facts_offsets.push_back(facts_offsets.back() + value.size());
    const Hdf5Description description = describe_shard(column_, sizes(facts_offsets.back()));
    XTTS_ASSIGN(const auto layout, Hdf5Layout::of(description));
    XTTS_ASSIGN(const auto ranges, ranges_of(description, layout));
    XTTS_TRY(make_room(layout.pages().size()));
    const auto image = memory_.bytes().first(layout.pages().size());
    XTTS_TRY(copy_structure(layout.pages(), "HDF5's datasets", in_order(ranges), image));
    const auto part = [&](Hdf5Part index) {
      return image.subspan(ranges[index].offset_bytes, ranges[index].size_bytes);
    };
    std::ranges::copy(headers_, part(kHeadersPart).begin());
    write_facts(facts, facts_offsets, part(kFactsPart));
    write_numbers(facts_offsets, part(kFactsOffsetsPart));
    write_numbers(lengths_, part(kLengthsPart));
    write_ids(part(kIdsPart));
    if (column_.layout == formats::Layout::kPacked) write_numbers(offsets_, part(kOffsetsPart));
    return LaidOutImage{.bytes = image, .places = places_of(ranges, facts_offsets)};
  }

 private:
  [[nodiscard]] Status make_room(std::uint64_t size_bytes) {
    if (size_bytes <= formats::kShardBytesMax) return memory_.grow_to(size_bytes);
    return {StatusCode::kResource,
            "making a shard image: its records and facts need more than the 1 GiB that a shard may "
            "have"};
  }

  void add_id(const std::string& id) {
    const std::size_t size = cut_size(id);
    if (size < id.size()) ++cut_id_count_;
    longest_id_bytes_ = std::max(longest_id_bytes_, size);
    ids_.append(id, 0, size);
    id_sizes_.push_back(static_cast<std::uint16_t>(size));
  }

  [[nodiscard]] Hdf5Sizes sizes(std::uint64_t facts_bytes) const {
    return {.record_count = lengths_.size(),
            .block_count = places_.size(),
            .payload_bytes = payload_bytes_,
            .facts_bytes = facts_bytes,
            .id_bytes = longest_id_bytes_,
            .cut_id_count = cut_id_count_};
  }

  // The datasets' ranges. Fails unless the records' range is where they were written already.
  [[nodiscard]] static Result<std::vector<ByteRange>> ranges_of(const Hdf5Description& description,
                                                                const Hdf5Layout& layout) {
    std::vector<ByteRange> ranges;
    for (std::size_t i = 0; i < description.datasets.size(); ++i) {
      const std::uint64_t offset = layout.offsets()[i].value_or(kHdf5PayloadOffset);
      ranges.push_back({offset, description.datasets[i].size_bytes()});
    }
    if (ranges[kRecordsPart].offset_bytes != kHdf5PayloadOffset) {
      return internal(formatted(
          "HDF5 put the records at byte {} and not at {}: this version of libhdf5 cannot be used; "
          "{} can",
          ranges[kRecordsPart].offset_bytes, kHdf5PayloadOffset, option("store", "lmdb")));
    }
    return ranges;
  }

  static void write_facts(std::vector<std::string>& facts,
                          const std::vector<std::uint64_t>& offsets, std::span<std::byte> out) {
    for (std::size_t block = 0; block < facts.size(); ++block) {
      const std::string value = std::exchange(facts[block], {});
      std::ranges::copy(formats::bytes_of(value), out.subspan(offsets[block]).begin());
    }
  }

  void write_ids(std::span<std::byte> out) const {
    std::string_view rest = ids_;
    for (std::size_t record = 0; record < id_sizes_.size(); ++record) {
      const std::string_view id = rest.substr(0, id_sizes_[record]);
      std::ranges::copy(formats::bytes_of(id), out.subspan(record * longest_id_bytes_).begin());
      rest.remove_prefix(id.size());
    }
  }

  [[nodiscard]] std::vector<BlockPlace> places_of(
      const std::vector<ByteRange>& ranges, const std::vector<std::uint64_t>& facts_offsets) const {
    std::vector<BlockPlace> places = places_;
    for (std::size_t block = 0; block < places.size(); ++block) {
      places[block].header_offset = ranges[kHeadersPart].offset_bytes + block * kBlockHeaderBytes;
      places[block].facts_offset = ranges[kFactsPart].offset_bytes + facts_offsets[block];
      places[block].facts_bytes = facts_offsets[block + 1] - facts_offsets[block];
    }
    return places;
  }

  const formats::ColumnSpec column_;
  ImageMemory memory_;  // payloads from kHdf5PayloadOffset on; the rest comes with finish()
  std::uint64_t payload_bytes_ = 0;
  std::vector<BlockPlace> places_;
  std::vector<std::byte> headers_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint64_t> offsets_;  // in elements
  std::string ids_;                     // one after another, each cut to the limit
  std::vector<std::uint16_t> id_sizes_;
  std::size_t longest_id_bytes_ = 1;  // HDF5 has no text of zero bytes
  std::uint64_t cut_id_count_ = 0;
};

}  // namespace

Result<std::unique_ptr<ImageContainer>> make_hdf5_container(const formats::ColumnSpec& column) {
  if (is_taken_name(column.name)) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("shard image: a column of an HDF5 shard cannot be named '{}': each has "
                            "a dataset of that name beside it",
                            column.name));
  }
  XTTS_TRY(load_hdf5());  // fails now, before a shard of records could be lost
  XTTS_ASSIGN(ImageMemory memory, ImageMemory::reserve(formats::kShardBytesMax));
  return std::unique_ptr<ImageContainer>(
      std::make_unique<Hdf5Container>(column, std::move(memory)));
}

}  // namespace xtts::store
