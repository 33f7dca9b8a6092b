// SealedRecords: the records of shards that this build sealed, in planned order, with their facts.
// It reads headers and facts back from the files and verifies them against the shard's table. So
// the index will hold what lies on disk, and a resumed build needs no other path. Memory: one
// block's facts. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "dsp/channel_sums.hpp"
#include "formats/block.hpp"
#include "formats/facts.hpp"
#include "store/journal.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

class SealedRecords {
 public:
  struct Record {
    Digest id_hash;
    std::uint32_t length = 0;
    std::uint32_t block = 0;  // counted over all shards
    std::uint16_t slot = 0;
    formats::RecordFacts facts;
  };

  // `column`: the column's place among the sealed columns of each shard.
  SealedRecords(Env& env, std::string cache, const std::vector<store::JournalShard>& shards,
                std::size_t column = 0);

  // The next record, or nothing after the last.
  [[nodiscard]] Result<std::optional<Record>> next();

  // Sums of the blocks read so far whose split is 0 (train).
  [[nodiscard]] const dsp::TotalSums& train_sums() const noexcept { return train_sums_; }

 private:
  [[nodiscard]] Result<bool> read_next_block();
  [[nodiscard]] bool is_at_shards_end() const;

  Env& env_;
  std::string cache_;
  const std::vector<store::JournalShard>& shards_;
  const std::size_t column_;
  std::size_t shard_ = 0;
  std::size_t block_in_shard_ = 0;
  std::uint32_t block_ = 0;
  bool begun_ = false;
  std::unique_ptr<RandomAccessFile> file_;
  formats::BlockHeader header_;
  formats::BlockFacts facts_;
  std::size_t slot_ = 0;
  dsp::TotalSums train_sums_;
};

}  // namespace xtts::pipeline
