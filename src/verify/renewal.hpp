// Renewal: a generation in which damaged shards hold their live records alone. For shards that
// cannot be had again to the byte, because a record that no clip names any more is lost with them.
//
// Live records are copied where their checks are right, else made again; dead slots are gone. A
// shard without live records goes, and the last of its column takes its number, so that columns of
// sound keep as many shards as each other. All else is taken over as it is.
//
// Under the builder's lock; one thread at a time. Memory: one shard image, 40 bytes a record
// of the columns that change. A crash before the manifest leaves the damaged cache and files that
// nobody names.
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
  // The job of a shard's repair.
  std::function<ShardRepairJob(const ShardPlace& place)> repair_job;
  std::function<void(const ShardPlace& place, const Obstacle& obstacle)> tell;
};

// Shards with an obstacle stay as they are, and are told. Publishes where any was renewed; what it
// replaces stays until garbage is collected.
[[nodiscard]] Result<Renewal> renew_shards(const RenewalJob& job, std::vector<ShardPlace> places);

}  // namespace xtts::verify
