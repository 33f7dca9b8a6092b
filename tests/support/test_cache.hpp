// TestCache: a small published cache, composed from the format document: two columns (mel and
// tokens; more where that is asked for), any layout, with reader's and verify's tests in mind. The
// index and the manifest are made by the codecs of formats/; shards by a ShardMaker: by hand, pages
// of a made-up tree around real regions (readers never parse LMDB's pages), or by the store. Plain
// values; one thread at a time.
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
  formats::StoreKind store = formats::StoreKind::kLmdb;  // what make_shard makes
  formats::Layout layout = formats::Layout::kPadded;
  std::uint32_t clip_count = 7;
  std::uint32_t frames_max = 24;
  std::uint32_t channel_count = 5;
  std::uint32_t tokens_max = 12;
  std::uint32_t mel_copies = 0;  // further columns, mel_1 and so on, with the mel's own numbers
  std::uint32_t clips_per_block = 2;  // at most K, which is 64 for records this small
  std::uint32_t blocks_per_shard = 2;
  std::uint32_t tombstone_count =
      0;  // clips in the shards that no plan row names any more: the last ones
  std::uint64_t generation = 1;
  std::string dataset = {};  // of every clip; empty for none
  // More than one: the first has half of the clips, in the index alone; in the shards all are hers.
  std::uint32_t speaker_count = 1;
  ShardMaker make_shard = make_shard_by_hand;
  std::function<void(TestClip&)> edit_clip = {};  // changes its numbers before they are stored
  // What the index says of a position, and what the manifest says, if not the truth.
  std::function<void(std::uint32_t, formats::PlanRow&)> edit_plan_row = {};
  std::function<void(formats::Manifest&)> edit_manifest = {};
};

struct TestCache {
  std::vector<TestClip> clips;  // by position
  formats::Manifest manifest;
  std::map<std::string, std::string> files;  // by name within the cache, what is published
  std::string index_name;

  // The name of a shard of a column.
  [[nodiscard]] std::string shard_name(std::size_t column, std::size_t ordinal) const;
  void add_to(MemoryEnv& env, const std::string& folder) const;
};

[[nodiscard]] TestCache make_test_cache(const TestCacheOptions& options = {});

}  // namespace xtts::testing
