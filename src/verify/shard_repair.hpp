// ShardRepair makes a damaged or missing shard again, byte for byte. It copies the parts of the
// damaged file that their checks prove. The rest is made again from the sources (sound) or from
// the index (tokens, facts). The image counts only if its digest is the one that the manifest
// names.
//
// One thread at a time; computes records of a block on `thread_count` threads. Memory: one shard
// image, one block's records. Writes nothing. Failures: kCancelled, kResource. A part that cannot
// be made again is an Obstacle.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "reader/index_reader.hpp"
#include "store/shard_image.hpp"
#include "verify/block_salvage.hpp"
#include "verify/plan.hpp"
#include "verify/recompute.hpp"
#include "verify/verify.hpp"

namespace xtts::verify {

// The reason why a part of a shard cannot be made again.
struct Obstacle {
  std::string clip = {};  // full id; empty where it is not one clip's
  Check check = Check::kRecord;
  Evidence expected = {};
  Evidence why = {};
  RemedyKind remedy = RemedyKind::kOverwrite;
  std::optional<std::uint64_t> position = {};  // of the clip
};

struct ShardRepairJob {
  Env& env;
  std::string cache;
  const formats::Manifest& manifest;
  reader::IndexReader& index;
  const Plan& plan;
  const ColumnPlan& column;
  std::uint32_t ordinal = 0;
  std::uint32_t thread_count = 1;
  const Recomputer& texts;
  // Called when the first record needs its source: finding the sources takes time, and most damage
  // does not need them. Null if nobody has said where the sources are.
  std::function<Result<Recomputer*>()> sounds;
  std::function<bool()> cancelled;
};

struct RemadeShard {
  // The shard's bytes cannot be made again, but all records that clips name can. Either a dead
  // record is lost (a clip was removed or recomputed since), or facts were written before their
  // lists changed. Then there is neither image nor obstacle.
  bool needs_renewal = false;
  std::unique_ptr<store::ShardImage> image;  // null where there are obstacles
  store::FinishedImage finished;             // of `image`
  std::vector<Obstacle> obstacles;
  std::uint64_t recomputed_count = 0;
};

[[nodiscard]] Result<RemadeShard> remake_shard(const ShardRepairJob& job);

// Makes the shard without its dead records, for a new generation (renewal.hpp). A clip names at
// least one of its records.
[[nodiscard]] Result<RemadeShard> renew_shard(const ShardRepairJob& job, std::uint64_t generation);

}  // namespace xtts::verify
