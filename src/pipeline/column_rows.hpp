// ColumnRows: what the index and the manifest hold of one column, collected while clips are added.
// One thread at a time. Memory: 16 bytes a clip, one row a block, one entry a shard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "reader/cache_view.hpp"
#include "store/cache_folder.hpp"

namespace xtts::pipeline {

struct ColumnRows {
  std::string block_rows;
  std::uint64_t block_count = 0;
  std::string locations;
  std::vector<formats::ShardEntry> shards;

  void add_shard(const store::SealedShard& sealed, std::uint64_t generation) {
    const auto ordinal = static_cast<std::uint32_t>(shards.size());
    for (const auto& place : sealed.table.blocks) {
      append_row(formats::BlockRow{.place = place, .shard = ordinal}, block_rows);
      ++block_count;
    }
    shards.push_back({.file_bytes = sealed.table.file_bytes,
                      .structure_check = sealed.table.structure_check,
                      .block_count = static_cast<std::uint32_t>(sealed.table.blocks.size()),
                      .record_count = sealed.record_count,
                      .generation = generation,
                      .digest = sealed.digest});
  }
};

// A column as it is indexed: its description with its shards, and its rows.
struct IndexedColumn {
  formats::ColumnEntry entry;
  ColumnRows rows;
};

// Takes over the shards and blocks of a published column; further ones follow them.
[[nodiscard]] Status take_over(reader::CacheView& published, std::uint32_t column,
                               ColumnRows& rows);

}  // namespace xtts::pipeline
