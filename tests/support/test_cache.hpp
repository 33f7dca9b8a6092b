// TestCache: a small published cache for tests of readers and of verify, composed after the format
// document. It has two columns (mel and tokens), or more on request, in any layout.
//
// The codecs of formats/ make index and manifest. A ShardMaker makes the shards. By hand, they are
// pages of a made-up tree around real regions: readers never parse LMDB's pages. The store can make
// them, too. Plain values. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formats/block.hpp"
#include "formats/facts.hpp"
#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "formats/shard_table.hpp"
#include "support/memory_env.hpp"

namespace xtts::testing {

struct TestRecord {
  Digest id_hash;
  std::uint32_t length = 0;
  std::uint32_t fill_bits = 0;
  std::string rows;  // length * row_bytes
};

struct TestBlock {
  std::vector<TestRecord> records;
  formats::BlockFacts facts;
};

struct MadeShard {
  formats::ShardTable table;
  std::string bytes;
};

using ShardMaker = std::function<MadeShard(const formats::ColumnSpec&, std::uint64_t generation,
                                           const std::vector<TestBlock>&)>;

[[nodiscard]] MadeShard make_shard_by_hand(const formats::ColumnSpec& column,
                                           std::uint64_t generation,
                                           const std::vector<TestBlock>& blocks);

struct TestClip {
  std::string id;                    // full
  std::vector<float> mel;            // [frames, channels]
  std::vector<std::int32_t> tokens;  // [tokens]
};

struct TestCacheOptions {
  formats::StoreKind store = formats::StoreKind::kLmdb;  // the kind that make_shard makes
  formats::Layout layout = formats::Layout::kPadded;
  std::uint32_t clip_count = 7;
  std::uint32_t frames_max = 24;
  std::uint32_t channel_count = 5;
  std::uint32_t tokens_max = 12;
  DType mel_dtype = DType::kFloat32;  // a float type
  float mel_fill = -11.5F;            // what pads the mel
  std::uint32_t mel_copies = 0;       // more columns: mel_2 has the mel's numbers times -2
  std::uint32_t clips_per_block = 2;  // at most K, which is 64 for records this small
  std::uint32_t blocks_per_shard = 2;
  std::uint32_t tombstone_count =
      0;  // how many of the last clips in the shards no plan row names any more
  std::uint64_t generation = 1;
  std::string dataset = {};  // of every clip; empty: none
  // With more than one, the first speaker has half of the clips by the index. In the shards, all
  // clips are hers.
  std::uint32_t speaker_count = 1;
  ShardMaker make_shard = make_shard_by_hand;
  std::function<void(TestClip&)> edit_clip = {};  // changes a clip's numbers before they are stored
  // Make index or manifest say something else than the truth.
  std::function<void(std::uint32_t, formats::PlanRow&)> edit_plan_row = {};
  std::function<void(formats::Manifest&)> edit_manifest = {};
};

struct TestCache {
  std::vector<TestClip> clips;  // by position
  formats::Manifest manifest;
  std::map<std::string, std::string> files;  // contents of the published files, by name
  std::string index_name;

  // The name of a shard of a column.
  [[nodiscard]] std::string shard_name(std::size_t column, std::size_t ordinal) const;
  void add_to(MemoryEnv& env, const std::string& folder) const;
};

[[nodiscard]] TestCache make_test_cache(const TestCacheOptions& options = {});

}  // namespace xtts::testing
