// BlockMap gives access to the records of one generation in mapped shard files.
//
// The last blocks and mappings stay open (kept_things.hpp); a mapping costs address space, not
// memory. A block's header is verified when it is opened. A record is verified at its first use,
// once per BlockMap; this costs a second pass over its bytes.
//
// If the kernel cannot provide a page (a file truncated meanwhile, a failing disk), the record is
// read again in the ordinary way, which reports the fault. Where a file system cannot map, all
// reads are ordinary. An ordinary read is always verified, because it says nothing about the next
// one. A shard whose file has the wrong length is also read in this way: blocks and records that
// lie inside the file and match their checks are returned, the others are kCorrupt.
//
// Synchronised inside: any number of threads; reading itself takes no lock. Call guard_reads()
// before each series of verify(), copy() and read(). `shards`, `manifest` and `index` must outlive
// the BlockMap. Failures: kCorrupt (names file, offset and clip), kSourceIo (the disk cannot read
// these bytes), kUnsupported (a newer format), kResource (descriptors, memory: not the record's
// fault).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_mapping.hpp"
#include "base/guarded_read.hpp"
#include "formats/block.hpp"
#include "formats/manifest.hpp"
#include "reader/index_reader.hpp"
#include "reader/kept_things.hpp"
#include "reader/shard_files.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

class BlockMap;

// Immutable, except that the kernel may change its pages.
struct OpenBlock {
  std::uint32_t column_id = 0;
  std::uint32_t shard = 0;
  formats::BlockPlace place;
  formats::BlockHeader header;
  std::shared_ptr<const FileMapping> mapping;  // null: the file system cannot map
};

// One record of an open block.
struct RecordPlace {
  BlockMap* map = nullptr;  // that found the record
  std::shared_ptr<const OpenBlock> block;
  std::uint32_t slot = 0;
  std::uint64_t position = 0;  // of the clip

  [[nodiscard]] const formats::BlockRecord& record() const noexcept {
    return block->header.records[slot];
  }
  [[nodiscard]] bool is_mapped() const noexcept { return block->mapping != nullptr; }
  // The record's bytes in the mapping, padding included. Read them under guard.
  [[nodiscard]] std::span<const std::byte> region() const noexcept;
  [[nodiscard]] std::uint64_t offset_in_shard() const noexcept {
    return block->place.payload_offset + record().offset_bytes;
  }
};

struct MappedArray {
  std::shared_ptr<const FileMapping> mapping;
  std::span<const std::byte> bytes;
};

enum class Check : std::uint8_t { kRecord, kNothing };

class BlockMap {
 public:
  BlockMap(ShardFiles& shards, const formats::Manifest& manifest, IndexReader& index,
           std::shared_ptr<Kept> kept);

  [[nodiscard]] Result<RecordPlace> locate(std::uint32_t column_id, std::uint64_t position);
  // Finds the records of consecutive positions as one array [count, shape], if they are padded and
  // lie one after the other in one mapped file. The caller verifies each record and reads under
  // guard.
  [[nodiscard]] Result<std::optional<MappedArray>> find_array(std::uint32_t column_id,
                                                              std::uint64_t first_position,
                                                              std::uint32_t count);
  // True where verify() has passed for this record.
  [[nodiscard]] bool is_verified(const RecordPlace& place) noexcept;
  // Checks that the record is undamaged and belongs to this clip. Repeated calls are cheap.
  [[nodiscard]] Status verify(const RecordPlace& place);
  // Copies `out.size()` bytes from `offset_bytes` of the record.
  [[nodiscard]] Status copy(const RecordPlace& place, std::uint64_t offset_bytes,
                            std::span<std::byte> out, Check check);
  // Calls `reader` with `size_bytes` bytes of the record from `offset_bytes`, in place.
  // guarded_read.hpp says what `reader` must not own. At a missing page `reader` is left in the
  // middle and called again with bytes that were read in the ordinary way.
  [[nodiscard]] Status read(const RecordPlace& place, std::uint64_t offset_bytes,
                            std::size_t size_bytes, GuardedReader reader, void* context,
                            Check check);

  // Verifies the whole region of a record that was read otherwise. The result is not remembered.
  [[nodiscard]] Status check(const RecordPlace& place, std::span<const std::byte> region);
  // The file for direct reads of the record, at offset_in_shard().
  [[nodiscard]] Result<std::shared_ptr<const DirectFile>> direct_file(const RecordPlace& place);

  // Advice; reports no failure. If a block is not open yet, the disk is asked for its header, so
  // that locate() need not wait for it. The records after the header are asked for too, if they
  // take at most `payload_bytes_max`.
  void announce_block(std::uint32_t column_id, std::uint64_t position,
                      std::uint64_t payload_bytes_max);
  // A shard as memory; null: it cannot be mapped.
  [[nodiscard]] std::shared_ptr<const FileMapping> mapping(std::uint32_t column_id,
                                                           std::uint32_t shard);
  // Reads this stretch of a shard into `scratch`, only to bring it into the page cache. Reports no
  // failure: the later read of the bytes does.
  void read_stretch(std::uint32_t column_id, std::uint32_t shard, std::uint64_t offset_bytes,
                    std::span<std::byte> scratch);

 private:
  [[nodiscard]] Result<std::shared_ptr<const OpenBlock>> open(std::uint32_t column_id,
                                                              std::uint32_t block_row);
  [[nodiscard]] Result<std::shared_ptr<const OpenBlock>> load(std::uint32_t column_id,
                                                              std::uint32_t block_row);
  [[nodiscard]] Result<std::shared_ptr<const FileMapping>> mapping_of(std::uint32_t column_id,
                                                                      std::uint32_t shard);
  [[nodiscard]] Status check_owner(const RecordPlace& place);
  [[nodiscard]] Result<std::vector<std::byte>> read_region(const RecordPlace& place, Check check);
  [[nodiscard]] Status with_clip(const Status& failure, const RecordPlace& place);
  [[nodiscard]] Status with_clip(const Status& failure, std::uint32_t column_id,
                                 std::uint64_t position);
  [[nodiscard]] std::atomic<std::uint64_t>& verified_word(const RecordPlace& place) noexcept;

  const formats::Manifest& manifest_;
  IndexReader& index_;
  ShardFiles& shards_;
  const std::shared_ptr<Kept> kept_;
  const std::uint64_t owner_;  // of blocks by their keys, and of mappings by column and shard
  // By column id: a bit for each clip, whose record was verified. Of a clip, not of a slot: sound
  // bytes of a slot may still belong to another clip.
  std::vector<std::vector<std::atomic<std::uint64_t>>> verified_;
};

}  // namespace xtts::reader
