// make_set: names caches as one (formats/set-v1.md): all the parts of one plan, or any caches of
// one kind of features. It reads manifests, rejects, a few rows of each plan, and, of caches that
// are no parts, all hashes of ids. It writes one small file, last and atomically.
//
// Memory: a manifest a cache, and the rejects of all. One thread. Failures: kInvalidArgument (no
// caches, parts and other caches together, an id that two caches have), kMismatch (parts that are
// missing, doubled or of another plan; another recipe; other numerics: each named),
// kTooManyRejects, kCorrupt, kResource, kCancelled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "maintain/new_cache.hpp"
#include "pipeline/limits.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

struct SetRequest {
  std::string to;                   // the set's folder; it may hold the caches
  std::vector<std::string> caches;  // parts in any order; other caches in the order of the clips
  pipeline::RejectLimit max_rejects = {};  // of all caches together, as max_losses
  pipeline::LossLimits max_losses = {};
  bool allow_mixed = false;  // caches of several processors or library versions
  WriteRun run = {};
};

struct SetReport {
  std::uint64_t cache_count = 0;
  bool are_parts = false;  // of one plan
  std::uint64_t record_count = 0;
  std::uint64_t reject_count = 0;
  double sound_seconds = 0.0;
  std::uint64_t shard_bytes = 0;
  bool has_statistics = false;
};

[[nodiscard]] Result<SetReport> make_set(Env& env, const SetRequest& request);

}  // namespace xtts::maintain
