// SoundRows: where the records of the sound columns lie, clip by clip: published before, or sealed
// by this build. One thread at a time. Memory: ColumnRows of each, one block's facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "pipeline/column_rows.hpp"
#include "pipeline/sealed_records.hpp"
#include "pipeline/tombstones.hpp"
#include "reader/cache_view.hpp"
#include "store/journal.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

class SoundRows {
 public:
  // All must outlive it. `previous`: null where nothing is published.
  SoundRows(Env& env, const std::string& cache, reader::CacheView* previous,
            const std::vector<store::JournalShard>& sealed, std::size_t column_count);

  // Shards that stay keep their numbers and block rows; what this build sealed comes behind them.
  [[nodiscard]] Status begin(std::uint64_t generation);

  // Clips come in canonical order, one call each.
  [[nodiscard]] Status add_published(std::uint64_t position);
  // The facts and length of the next sealed record, if it is this clip's; else the clip was
  // rejected.
  [[nodiscard]] Result<std::optional<SealedRecords::Record>> add_sealed(const Digest& id_hash);

  // After the last clip.
  [[nodiscard]] Status check_all_are_named() const;
  // Published positions that no clip has named.
  [[nodiscard]] std::vector<std::uint64_t> left_positions() const;
  [[nodiscard]] Status leave_behind(std::uint64_t position, Tombstones& tombstones) const;

  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(columns_.size());
  }
  [[nodiscard]] ColumnRows& rows(std::size_t column) { return columns_[column].rows; }
  [[nodiscard]] std::optional<formats::Statistics> statistics() const;

 private:
  struct Column {
    SealedRecords records;
    ColumnRows rows = {};
    std::uint64_t published_block_count = 0;
    std::optional<SealedRecords::Record> next = {};
  };

  reader::CacheView* const previous_;
  const std::vector<store::JournalShard>& sealed_;
  std::vector<Column> columns_;
  std::vector<bool> still_used_;  // published positions that clips have named
};

}  // namespace xtts::pipeline
