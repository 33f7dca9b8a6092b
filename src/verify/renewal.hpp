// Renewal writes a generation in which damaged shards hold only their live records. It is for
// shards that cannot be made again to the byte, because they lost a record that no clip names any
// more.
//
// Live records are copied if their checks are right, else made again. Dead slots go. A shard
// without live records goes too. The last shard of its column takes its number, so columns of
// sound keep equal numbers of shards. All else is taken over unchanged.
//
// Under the builder's lock; one thread at a time. Memory: one shard image, 40 bytes a record of
// the columns that change. A crash before the manifest leaves the damaged cache, and files that no
// manifest names.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "formats/manifest.hpp"
#include "pipeline/copied_index.hpp"
#include "reader/open_generation.hpp"
#include "store/cache_folder.hpp"
#include "verify/plan.hpp"
#include "verify/run.hpp"
#include "verify/shard_repair.hpp"

namespace xtts::verify {

struct ShardPlace {
  std::size_t column = 0;
  std::uint32_t ordinal = 0;

  friend auto operator<=>(const ShardPlace&, const ShardPlace&) = default;
};

struct RenewedShard {
  ShardPlace before;
  ShardPlace after;
  std::string name_before = {};
  std::uint64_t live_count = 0;  // 0: it is gone
  std::uint64_t recomputed_count = 0;
};

struct Renewal {
  std::uint64_t generation = 0;  // published; 0: nothing was
  formats::Manifest manifest;
  std::vector<RenewedShard> shards;
};

struct RenewalJob {
  Run& run;
  const formats::Manifest& manifest;
  reader::IndexReader& index;
  const Plan& plan;
  store::CacheFolder& folder;
  // Returns the job that repairs a shard.
  std::function<ShardRepairJob(const ShardPlace& place)> repair_job;
  std::function<void(const ShardPlace& place, const Obstacle& obstacle)> report_obstacle;
};

// Shards with an obstacle stay as they are and are reported. Publishes if any shard was renewed.
// The files that this replaces stay until garbage is collected.
[[nodiscard]] Result<Renewal> renew_shards(const RenewalJob& job, std::vector<ShardPlace> places);

}  // namespace xtts::verify
