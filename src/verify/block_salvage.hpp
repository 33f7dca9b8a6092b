// BlockSalvage: what is still true of one block of a damaged shard. Nothing here is guessed: a
// header, a record or a facts value counts as sound when the checks that the index keeps say so.
//
// A header that is lost is made again from the plan, with the checks of the records as they lie
// there; where its own check comes out as the index says, header and records are proved at once.
// One thread at a time. Memory: the block.
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

// A shard's file; null where there is none.
struct DamagedShard {
  const RandomAccessFile* file = nullptr;
  std::string name;
};

[[nodiscard]] std::optional<formats::BlockHeader> sound_header(const DamagedShard& shard,
                                                               const formats::BlockPlace& place,
                                                               const formats::ColumnSpec& column);

// `wanted`: the header as the plan tells it (records with id hash, length and the column's fill
// bits, which records may have instead of their own; column, generation and block number), whose
// records lie where they must.
[[nodiscard]] SalvagedBlock salvage_block(const DamagedShard& shard,
                                          const formats::BlockPlace& place,
                                          const formats::BlockHeader& wanted);

}  // namespace xtts::verify
