// ShardImage builds the bytes of a shard in memory. It touches no file: sealing (cache_folder.hpp)
// writes the finished image through Env.
//
// Input: records of one column, in order. Output: about as many bytes, page-aligned. A full padded
// mel shard needs 128 MiB of memory. One thread at a time. Failures: kInvalidArgument (a record
// that does not fit its column), kResource (memory). After a failure the image can only be
// destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "formats/block.hpp"
#include "formats/facts.hpp"
#include "formats/shard_table.hpp"
#include "formats/storage_config.hpp"
#include "store/image_container.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// One record for a block.
struct PendingRecord {
  Digest id_hash;
  std::uint32_t length = 0;     // true length of axis 0
  std::uint32_t fill_bits = 0;  // float32 or int32 bits
  std::span<const std::byte>
      rows;  // length * row_bytes, in the column's dtype; only read during add_block
};

struct FinishedImage {
  formats::ShardTable table;
  std::uint64_t record_count = 0;
  formats::StoreKind store = formats::StoreKind::kLmdb;
  std::span<const std::byte> bytes;  // the file's bytes; valid while the ShardImage lives
};

class ShardImage {
 public:
  // For make_image() only.
  ShardImage(formats::ColumnSpec column, formats::StoreKind store, std::uint64_t generation,
             std::unique_ptr<ImageContainer> container)
      : column_(std::move(column)),
        store_(store),
        generation_(generation),
        container_(std::move(container)) {}

  // Adds at most K records: pads (or packs) them, computes the checks, copies everything.
  [[nodiscard]] Status add_block(std::span<const PendingRecord> records, formats::BlockFacts facts);
  [[nodiscard]] std::uint32_t block_count() const noexcept {
    return static_cast<std::uint32_t>(facts_.size());
  }
  // No block is added after this point. The table comes from the image's final bytes, not the
  // input.
  [[nodiscard]] Result<FinishedImage> finish();

 private:
  const formats::ColumnSpec column_;
  const formats::StoreKind store_;
  const std::uint64_t generation_;
  const std::unique_ptr<ImageContainer> container_;
  std::vector<std::string> facts_;  // encoded, one per block; empty after
  std::uint64_t record_count_ = 0;
  bool finished_ = false;
};

// Checks that images of this store can be made here, before any work is done for one.
// kUnsupported: its library is missing.
[[nodiscard]] Status prepare_store(formats::StoreKind store);
[[nodiscard]] Result<std::unique_ptr<ShardImage>> make_image(const formats::ColumnSpec& column,
                                                             formats::StoreKind store,
                                                             std::uint64_t generation);

}  // namespace xtts::store
