// BlockSalvage finds the sound parts of one block of a damaged shard. It guesses nothing: a
// header, a record or a facts value counts as sound when the checks in the index say so.
//
// A lost header is made again from the plan, with the checks of the records as they lie there. If
// its own check then matches the index, header and records are proved at once. One thread at a
// time. Memory: the block.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/block.hpp"
#include "formats/facts.hpp"
#include "formats/shard_table.hpp"

namespace xtts::verify {

struct SalvagedRecord {
  Digest id_hash;
  std::uint32_t length = 0;
  std::optional<std::uint32_t> fill_bits;      // nothing: it stood in the header alone
  std::optional<std::vector<std::byte>> rows;  // true rows; nothing: to be made again
};

struct SalvagedBlock {
  std::vector<SalvagedRecord> records;
  std::optional<formats::BlockFacts> facts;  // nothing: to be made again
};

// The file of a shard; null where there is none.
struct DamagedShard {
  const RandomAccessFile* file = nullptr;
  std::string name;
};

[[nodiscard]] std::optional<formats::BlockHeader> sound_header(const DamagedShard& shard,
                                                               const formats::BlockPlace& place,
                                                               const formats::ColumnSpec& column);

// `wanted` is the header as the plan tells it: records with id hash, length and the column's fill
// bits (a record may have its own), column, generation and block number. Its records lie where
// they must.
[[nodiscard]] SalvagedBlock salvage_block(const DamagedShard& shard,
                                          const formats::BlockPlace& place,
                                          const formats::BlockHeader& wanted);

}  // namespace xtts::verify
