#include "reader/block_map.hpp"

#include <cstring>
#include <utility>

#include "base/formatted.hpp"
#include "base/guarded_read.hpp"
#include "base/try.hpp"
#include "formats/clip_id.hpp"
#include "reader/block_reader.hpp"
#include "reader/cache_paths.hpp"
#include "reader/read_exactly.hpp"

namespace xtts::reader {
namespace {

std::uint64_t name_of(std::uint32_t column_id, std::uint32_t block_row_or_shard) {
  return std::uint64_t{column_id} << 32U | block_row_or_shard;
}

struct RegionCheck {
  const formats::BlockHeader& header;
  std::size_t slot;
  std::uint64_t found = 0;
};

void compute_check(void* context, std::span<const std::byte> region) {
  auto& check = *static_cast<RegionCheck*>(context);
  check.found = formats::record_check(check.header, check.slot, region);
}

// A file that opens but cannot be read: the disk is at fault, for these bytes only.
Status unreadable(const Status& failure) {
  if (failure.code() != StatusCode::kResource) return failure;
  return {StatusCode::kSourceIo, failure.message()};
}

Status not_what_was_written(const std::string& shard, std::uint64_t offset_bytes) {
  return corrupt(shard, offset_bytes, "record: its bytes are not those that were written");
}

}  // namespace

std::span<const std::byte> RecordPlace::region() const noexcept {
  return block->mapping->bytes().subspan(block->place.payload_offset + record().offset_bytes,
                                         block->header.region_bytes(slot));
}

BlockMap::BlockMap(ShardFiles& shards, const formats::Manifest& manifest, IndexReader& index,
                   std::shared_ptr<Kept> kept)
    : manifest_(manifest),
      index_(index),
      shards_(shards),
      kept_(std::move(kept)),
      owner_(kept_->new_owner()) {
  for (std::size_t i = 0; i < manifest.columns.size(); ++i)
    verified_.emplace_back((index.clip_count() + 63) / 64);
}

Result<RecordPlace> BlockMap::locate(std::uint32_t column_id, std::uint64_t position) {
  XTTS_ASSIGN(const formats::LocationRow row, index_.location(column_id, position));
  if (row.block_row == formats::kNoRecord) return no_record(manifest_.columns[column_id]);
  auto opened = open(column_id, row.block_row);
  if (!opened.ok()) return with_clip(opened.status(), column_id, position);
  std::shared_ptr<const OpenBlock> block = std::move(*opened);
  if (row.slot >= block->header.records.size()) {
    return Status(
        StatusCode::kCorrupt,
        formatted("{}: position {} names slot {} of a block with {} records", index_.file().name(),
                  position, row.slot, block->header.records.size()));
  }
  return RecordPlace{this, std::move(block), row.slot, position};
}

Result<std::optional<MappedArray>> BlockMap::find_array(std::uint32_t column_id,
                                                        std::uint64_t first_position,
                                                        std::uint32_t count) {
  const formats::ColumnSpec& column = manifest_.columns[column_id].spec;
  const std::uint64_t record_bytes = column.record_bytes();
  if (column.layout != formats::Layout::kPadded || count == 0) return std::optional<MappedArray>();
  std::vector<formats::LocationRow> rows(count);
  XTTS_TRY(index_.locations(column_id, first_position, rows));
  MappedArray array;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool goes_on = i > 0 && rows[i].block_row == rows[i - 1].block_row;
    if (goes_on && rows[i].slot == rows[i - 1].slot + 1) continue;
    if (goes_on) return std::optional<MappedArray>();
    // The next block must begin where the last one ended.
    XTTS_ASSIGN(const RecordPlace place, locate(column_id, first_position + i));
    if (!place.is_mapped()) return std::optional<MappedArray>();
    const std::byte* const data = place.region().data();
    if (i == 0) {
      array = {place.block->mapping, {data, count * record_bytes}};
    } else if (place.block->mapping != array.mapping ||
               data != array.bytes.data() + i * record_bytes) {
      return std::optional<MappedArray>();
    }
  }
  // If the index is wrong, the last slot may not exist.
  XTTS_TRY(locate(column_id, first_position + count - 1).status());
  return std::optional<MappedArray>(std::move(array));
}

Result<std::shared_ptr<const OpenBlock>> BlockMap::open(std::uint32_t column_id,
                                                        std::uint32_t block_row) {
  const KeptKey key{owner_, name_of(column_id, block_row)};
  if (auto found = kept_->blocks.find(key)) return found;
  // Two threads may load the same block; the second one discards its own.
  XTTS_ASSIGN(auto block, load(column_id, block_row));
  return kept_->blocks.add(key, std::move(block));
}

Result<std::shared_ptr<const OpenBlock>> BlockMap::load(std::uint32_t column_id,
                                                        std::uint32_t block_row) {
  guard_reads();
  XTTS_ASSIGN(const formats::BlockRow row, index_.block(column_id, block_row));
  const formats::ColumnEntry& column = manifest_.columns[column_id];
  if (row.shard >= column.shards.size()) {
    return Status(StatusCode::kCorrupt,
                  formatted("{} names shard {} of column '{}', which the manifest does not have",
                            index_.file().name(), row.shard, column.spec.name));
  }
  auto block = std::make_shared<OpenBlock>();
  block->column_id = column_id;
  block->shard = row.shard;
  block->place = row.place;
  XTTS_ASSIGN(block->mapping, mapping_of(column_id, row.shard));

  const std::string name = shard_name(column, row.shard);
  std::vector<std::byte> bytes(formats::kBlockHeaderBytes);
  const std::uint64_t file_bytes = column.shards[row.shard].file_bytes;
  const auto lies_inside = [&](std::uint64_t offset, std::uint64_t size) {
    return offset <= file_bytes && size <= file_bytes - offset;
  };
  if (!lies_inside(row.place.header_offset, bytes.size()) ||
      !lies_inside(row.place.payload_offset, row.place.payload_bytes)) {
    return corrupt(name, row.place.header_offset,
                   "the index names a block here, which the file is too short for");
  }
  // Touching a page that is not in memory, without asking for it first, makes the kernel read
  // ahead the whole stretch around it, some MiB on many machines.
  if (block->mapping != nullptr) {
    block->mapping->will_need(row.place.header_offset, bytes.size());
  }
  if (block->mapping == nullptr ||
      !guarded_copy(block->mapping->bytes().subspan(row.place.header_offset, bytes.size()),
                    bytes)) {
    XTTS_ASSIGN(const auto shard, shards_.open_of_any_length(column_id, row.shard));
    auto read = read_of_shard(*shard, row.place.header_offset, bytes.size());
    if (!read.ok()) return unreadable(read.status());
    bytes = std::move(*read);
  }
  XTTS_ASSIGN(block->header, check_block_header(bytes, name, row.place, column.spec));
  return std::shared_ptr<const OpenBlock>(std::move(block));
}

Result<std::shared_ptr<const FileMapping>> BlockMap::mapping_of(std::uint32_t column_id,
                                                                std::uint32_t shard) {
  const KeptKey key{owner_, name_of(column_id, shard)};
  if (auto found = kept_->mappings.find(key)) return found;
  XTTS_ASSIGN(const auto opened, shards_.open_of_any_length(column_id, shard));
  // A truncated file is read call by call instead, so that each sound record inside it is found.
  if (!opened->wrong_length.empty()) return std::shared_ptr<const FileMapping>();
  // If a mapping is refused (some file systems, a limit on address space), ordinary reads replace
  // it.
  auto made = opened->file->map();
  if (!made.ok()) return std::shared_ptr<const FileMapping>();
  return kept_->mappings.add(key, std::move(*made));
}

std::atomic<std::uint64_t>& BlockMap::verified_word(const RecordPlace& place) noexcept {
  return verified_[place.block->column_id][place.position / 64];
}

bool BlockMap::is_verified(const RecordPlace& place) noexcept {
  const std::uint64_t word = verified_word(place).load(std::memory_order_relaxed);
  return (word >> place.position % 64 & 1U) != 0;
}

Status BlockMap::verify(const RecordPlace& place) {
  if (is_verified(place)) return {};
  const Status owner = check_owner(place);
  if (!owner.ok()) return with_clip(owner, place);
  if (place.is_mapped()) {
    const std::span<const std::byte> region = place.region();
    place.block->mapping->populate(place.offset_in_shard(), region.size());
    RegionCheck check{place.block->header, place.slot};
    if (guarded_read(region, compute_check, &check)) {
      if (check.found == place.record().check) {
        verified_word(place).fetch_or(std::uint64_t{1} << place.position % 64,
                                      std::memory_order_relaxed);
        return {};
      }
      return with_clip(not_what_was_written(shard_name(manifest_.columns[place.block->column_id],
                                                       place.block->shard),
                                            place.offset_in_shard()),
                       place);
    }
  }
  // An ordinary read reports the fault, or the record is sound after all; that is not remembered.
  const auto region = read_region(place, Check::kRecord);
  return region.ok() ? Status() : with_clip(region.status(), place);
}

Status BlockMap::copy(const RecordPlace& place, std::uint64_t offset_bytes,
                      std::span<std::byte> out, Check check) {
  const auto copy_bytes = [](void* to, std::span<const std::byte> source) {
    std::memcpy(to, source.data(), source.size());
  };
  return read(place, offset_bytes, out.size(), copy_bytes, out.data(), check);
}

Status BlockMap::read(const RecordPlace& place, std::uint64_t offset_bytes, std::size_t size_bytes,
                      GuardedReader reader, void* context, Check check) {
  if (size_bytes == 0) return check == Check::kRecord ? verify(place) : Status();
  if (place.is_mapped()) {
    if (check == Check::kRecord) XTTS_TRY(verify(place));
    const auto source = place.region().subspan(offset_bytes, size_bytes);
    if (guarded_read(source, reader, context)) return {};
  } else if (check == Check::kRecord) {
    const Status owner = check_owner(place);
    if (!owner.ok()) return with_clip(owner, place);
  }
  const auto region = read_region(place, check);
  if (!region.ok()) return with_clip(region.status(), place);
  reader(context, std::span(*region).subspan(offset_bytes, size_bytes));
  return {};
}

Result<std::vector<std::byte>> BlockMap::read_region(const RecordPlace& place, Check check) {
  XTTS_ASSIGN(const auto shard,
              shards_.open_of_any_length(place.block->column_id, place.block->shard));
  auto region =
      check == Check::kRecord
          ? read_record_region(*shard, place.block->place, place.block->header, place.slot)
          : read_of_shard(*shard, place.offset_in_shard(),
                          place.block->header.region_bytes(place.slot));
  if (region.ok()) return region;
  return unreadable(region.status());
}

Status BlockMap::check(const RecordPlace& place, std::span<const std::byte> region) {
  const Status owner = check_owner(place);
  if (!owner.ok()) return with_clip(owner, place);
  if (formats::record_check(place.block->header, place.slot, region) == place.record().check)
    return {};
  const formats::ColumnEntry& column = manifest_.columns[place.block->column_id];
  return with_clip(
      not_what_was_written(shard_name(column, place.block->shard), place.offset_in_shard()), place);
}

Result<std::shared_ptr<const DirectFile>> BlockMap::direct_file(const RecordPlace& place) {
  return shards_.open_direct(place.block->column_id, place.block->shard);
}

void BlockMap::announce_block(std::uint32_t column_id, std::uint64_t position,
                              std::uint64_t payload_bytes_max) {
  const auto location = index_.location(column_id, position);
  if (!location.ok() || location->block_row == formats::kNoRecord) return;
  if (kept_->blocks.find({owner_, name_of(column_id, location->block_row)})) return;
  const auto row = index_.block(column_id, location->block_row);
  if (!row.ok() || row->shard >= manifest_.columns[column_id].shards.size()) return;
  const auto mapping = mapping_of(column_id, row->shard);
  if (!mapping.ok() || *mapping == nullptr) return;
  (*mapping)->will_need(row->place.header_offset, formats::kBlockHeaderBytes);
  if (row->place.payload_bytes > payload_bytes_max) return;
  (*mapping)->will_need(row->place.payload_offset, row->place.payload_bytes);
}

std::shared_ptr<const FileMapping> BlockMap::mapping(std::uint32_t column_id, std::uint32_t shard) {
  if (shard >= manifest_.columns[column_id].shards.size()) return nullptr;
  auto found = mapping_of(column_id, shard);
  return found.ok() ? std::move(*found) : nullptr;
}

void BlockMap::read_stretch(std::uint32_t column_id, std::uint32_t shard,
                            std::uint64_t offset_bytes, std::span<std::byte> scratch) {
  const auto file = shards_.open(column_id, shard);
  if (file.ok()) (void)(*file)->file->read_at(offset_bytes, scratch);
}

// The index may lead to a sound record of another clip.
Status BlockMap::check_owner(const RecordPlace& place) {
  XTTS_ASSIGN(const auto owner, index_.find(place.record().id_hash));
  if (owner && *owner == place.position) return {};
  return corrupt(shard_name(manifest_.columns[place.block->column_id], place.block->shard),
                 place.block->place.header_offset,
                 formatted("the record in slot {} belongs to another clip", place.slot));
}

Status BlockMap::with_clip(const Status& failure, const RecordPlace& place) {
  return with_clip(failure, place.block->column_id, place.position);
}

Status BlockMap::with_clip(const Status& failure, std::uint32_t column_id, std::uint64_t position) {
  std::string clip = formatted("at position {}", position);
  if (const auto facts = index_.details(position); facts.ok()) clip = full_id(*facts);
  return failure.with_context(
      formatted("reading {} of clip {}", manifest_.columns[column_id].spec.name, clip));
}

}  // namespace xtts::reader
