// Plan: the index of a cache in memory, cross-checked within itself, for the checks of the shards.
//
// A column's block section has its rows by shard, then by block: the rows of shard s follow those
// of the shards before it. Memory: 32 bytes a clip and 4 a record, 80 a block. Immutable once
// loaded; share freely.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "formats/manifest.hpp"
#include "reader/index_reader.hpp"
#include "verify/run.hpp"

namespace xtts::verify {

inline constexpr std::uint32_t kNoOwner = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kTombstone = kNoOwner - 1;

struct ColumnPlan {
  const formats::ColumnEntry* entry = nullptr;
  std::vector<std::uint64_t> first_row_of_shard;       // one more than shards
  std::vector<std::optional<formats::BlockRow>> rows;  // nothing where the index is damaged
  std::vector<std::uint64_t>
      first_record_of_row;            // one more than rows; empty where owners are unknown
  std::vector<std::uint32_t> owners;  // by record: its clip's position, or kTombstone, or kNoOwner

  [[nodiscard]] std::uint32_t owner(std::uint64_t row, std::size_t slot) const noexcept {
    return first_record_of_row.empty() ? kNoOwner : owners[first_record_of_row[row] + slot];
  }
};

struct ClipPlan {
  Digest id_hash;
  std::uint32_t mel_len = 0;
  std::uint32_t text_len = 0;
  std::optional<std::uint32_t> wave_len = {};  // where the facts tell it
};

struct Plan {
  std::vector<ClipPlan> clips;  // by position; empty where the index is damaged
  std::vector<ColumnPlan> columns;
  std::uint32_t max_frames = 0;

  // Returns a clip's length in a column, for columns whose lengths the plan has.
  [[nodiscard]] std::optional<std::uint32_t> length_of(const formats::ColumnEntry& column,
                                                       std::uint32_t position) const;
};

// Compares the sizes and counts of manifest and footer, without reading a chunk.
void check_counts(Run& run, const reader::IndexReader& index, const formats::Manifest& manifest);

// `sound` means that no chunk of the index is damaged. Otherwise load_plan loads only the readable
// rows and compares nothing. Contradictions become findings.
[[nodiscard]] Plan load_plan(Run& run, reader::IndexReader& index,
                             const formats::Manifest& manifest, bool sound);

}  // namespace xtts::verify
