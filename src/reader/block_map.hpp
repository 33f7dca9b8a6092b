// BlockMap: the records of one generation where they lie, in mapped shard files.
//
// A block is opened once and kept (the 4,096 opened last; a shard's mapping stays for good: address
// space, not memory). Its header is verified then; a record is verified when it is first asked for,
// once in the life of the BlockMap, which costs a second pass over its bytes. What the kernel
// cannot provide (a file cut meanwhile, a failing disk) is read again in the ordinary way, which
// says what is wrong; so is everything where a file system cannot map. There nothing is remembered:
// what was sound in memory says nothing of the next read, and each read is verified. A shard whose
// file has the wrong length is read in that way, too: its blocks and records that lie inside of the
// file and keep their checks are handed out, the others are kCorrupt.
//
// Synchronised inside: any number of threads; reading itself takes no lock. Before a bout of
// verify(), copy() and read(), call guard_reads(). `shards`, `manifest` and `index` must outlive
// it. Failures: kCorrupt (names file, offset and clip), kSourceIo (the disk cannot read these
// bytes), kUnsupported (a newer format), kResource (descriptors, memory: nothing is wrong with the
// record).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file_mapping.hpp"
#include "base/guarded_read.hpp"
#include "formats/block.hpp"
#include "formats/manifest.hpp"
#include "reader/index_reader.hpp"
#include "reader/shard_files.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

class BlockMap;

// Immutable, but for what the kernel may do to its pages.
struct OpenBlock {
  std::uint32_t column_id = 0;
  std::uint32_t shard = 0;
  formats::BlockPlace place;
  formats::BlockHeader header;
  std::shared_ptr<const FileMapping> mapping;  // null where the file system cannot
};

// One record of an open block.
struct RecordPlace {
  BlockMap* map = nullptr;  // which has found it
  std::shared_ptr<const OpenBlock> block;
  std::uint32_t slot = 0;
  std::uint64_t position = 0;  // of the clip

  [[nodiscard]] const formats::BlockRecord& record() const noexcept {
    return block->header.records[slot];
  }
  [[nodiscard]] bool is_mapped() const noexcept { return block->mapping != nullptr; }
  // The record's bytes in the mapping, what stands behind its true rows included: to be read under
  // guard.
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
  BlockMap(ShardFiles& shards, const formats::Manifest& manifest, IndexReader& index);
  ~BlockMap();

  [[nodiscard]] Result<RecordPlace> locate(std::uint32_t column_id, std::uint64_t position);
  // The records of consecutive positions, where they lie one after the other in one mapped file,
  // padded: [count, shape] as it is. To be verified record by record, and read under guard.
  [[nodiscard]] Result<std::optional<MappedArray>> find_array(std::uint32_t column_id,
                                                              std::uint64_t first_position,
                                                              std::uint32_t count);
  // Whether verify() has found it sound before.
  [[nodiscard]] bool is_verified(const RecordPlace& place) noexcept;
  // Does the record hold what was written, and is it this clip's? Cheap when asked again.
  [[nodiscard]] Status verify(const RecordPlace& place);
  // Copies `out.size()` bytes from `offset_bytes` of the record.
  [[nodiscard]] Status copy(const RecordPlace& place, std::uint64_t offset_bytes,
                            std::span<std::byte> out, Check check);
  // Shows `reader` (guarded_read.hpp says what it must not own) `size_bytes` bytes from
  // `offset_bytes` of the record, where they lie. Where a page is missing it is left in the middle,
  // and called once more with what was read in the ordinary way.
  [[nodiscard]] Status read(const RecordPlace& place, std::uint64_t offset_bytes,
                            std::size_t size_bytes, GuardedReader reader, void* context,
                            Check check);

  // The same of bytes that were read otherwise: the record's whole region. Not remembered.
  [[nodiscard]] Status check(const RecordPlace& place, std::span<const std::byte> region);
  // For reading the record past the page cache, at offset_in_shard().
  [[nodiscard]] Result<std::shared_ptr<const DirectFile>> direct_file(const RecordPlace& place);

  // Advice, which tells nothing. Where a block has not been opened yet, its header is asked for
  // from the disk, so that locate() need not wait for it; and the records behind it, where they
  // take no more than `payload_bytes_max`.
  void announce_block(std::uint32_t column_id, std::uint64_t position,
                      std::uint64_t payload_bytes_max);
  // A shard as memory; null where it cannot be mapped.
  [[nodiscard]] std::shared_ptr<const FileMapping> mapping(std::uint32_t column_id,
                                                           std::uint32_t shard);
  // Reads this stretch of a shard into `scratch`, for what the system then keeps in memory. Tells
  // nothing: whoever needs the bytes finds out.
  void read_stretch(std::uint32_t column_id, std::uint32_t shard, std::uint64_t offset_bytes,
                    std::span<std::byte> scratch);

 private:
  struct Column;
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

  static constexpr std::size_t kOpenBlocksMax = 4096;

  const formats::Manifest& manifest_;
  IndexReader& index_;
  ShardFiles& shards_;
  std::vector<std::unique_ptr<Column>> columns_;  // by column id

  std::mutex mutex_;  // guards what stands below
  std::unordered_map<std::uint64_t, std::shared_ptr<const OpenBlock>> open_;
  std::deque<std::uint64_t> oldest_first_;
};

}  // namespace xtts::reader
