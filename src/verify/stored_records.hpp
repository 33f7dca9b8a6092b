// StoredRecords reads a clip's header entry, rows and facts from a shard, only from checked bytes.
// It keeps the last block, because clips mostly come in the order of their records. One thread at
// a time. Failures: kCorrupt (damage: full has reported it), kResource.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/block.hpp"
#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "reader/index_reader.hpp"
#include "reader/shard_files.hpp"

namespace xtts::verify {

struct StoredRecord {
  std::string file;  // relative to the cache
  std::uint64_t offset_bytes = 0;
  std::uint64_t facts_offset_bytes = 0;  // its block's facts value
  Digest numerics;
  std::uint32_t length = 0;
  std::uint32_t fill_bits = 0;
  std::vector<std::byte> rows;  // true rows, in the column's dtype
  formats::RecordFacts facts;
};

class StoredRecords {
 public:
  // All arguments must outlive the StoredRecords.
  StoredRecords(reader::IndexReader& index, reader::ShardFiles& files,
                const formats::ColumnEntry& column)
      : index_(index), files_(files), column_(column) {}

  // Also kCorrupt if the plan leads to another clip's record.
  [[nodiscard]] Result<StoredRecord> read(std::uint64_t position, const Digest& id_hash);

 private:
  struct Block {
    std::uint64_t row = 0;
    formats::BlockPlace place;
    std::shared_ptr<const reader::ShardFile> shard;
    formats::BlockHeader header;
    formats::BlockFacts facts;
  };
  [[nodiscard]] Result<Block> read_block(std::uint64_t row);

  reader::IndexReader& index_;
  reader::ShardFiles& files_;
  const formats::ColumnEntry& column_;
  std::optional<Block> block_;
};

}  // namespace xtts::verify
