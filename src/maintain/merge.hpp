// merge: joins the parts that 'build --partition' made, on any number of machines, into the cache
// that one build would have made, byte for byte. It does not read features. Shards get a second
// name: a link, or across file systems a copy, of which every byte is verified. Index and tokens
// are written anew.
//
// It reads and writes indexes, facts and texts; shards only if they are copied. Memory: about 400
// bytes a clip. A crash leaves the parts as they were; the same command begins again. Failures:
// kInvalidArgument (not parts, a folder in use), kMismatch (parts that are missing, doubled, of
// other clips, another recipe, other numerics: each named), kTooManyRejects, kCorrupt, kResource,
// kCancelled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "maintain/new_cache.hpp"
#include "pipeline/limits.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

struct MergeRequest {
  std::string to;                  // absent, an empty folder, or the rest of an interrupted merge
  std::vector<std::string> parts;  // in any order
  pipeline::RejectLimit max_rejects = {};  // of all parts together
  bool allow_mixed = false;                // parts of several processors or library versions
  WriteRun run = {};
};

struct MergeReport {
  std::uint64_t part_count = 0;
  std::uint64_t record_count = 0;
  std::uint64_t reject_count = 0;
  std::uint64_t shard_count = 0;
  std::uint64_t copied_count = 0;  // shards that could not be linked
  std::uint64_t cache_bytes = 0;
  bool is_completed = false;  // the run before had published the cache, and died before its end
};

[[nodiscard]] Result<MergeReport> merge(Env& env, const MergeRequest& request);

}  // namespace xtts::maintain
