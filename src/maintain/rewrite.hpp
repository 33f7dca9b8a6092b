// Rewrites a cache from a cache, without the sources: compact (in place, canonical bytes) and
// convert (into another folder, in another storage). Both check every record while reading, lay it
// out as a new build would, publish, verify every published byte, and only then remove what they
// replace.
//
// They read and write the cache once each, and read it once more to verify. Memory: two shard
// images, about 400 bytes a clip. A crash at any point leaves the old cache or the new one, whole;
// the same command begins again. Failures: kBusy, kCorrupt (damage in the input: verify, repair),
// kInvalidArgument, kMismatch (records of two numerics), kResource (with the needed bytes),
// kCancelled.
#pragma once

#include <cstdint>
#include <string>

#include "base/env.hpp"
#include "formats/storage_config.hpp"
#include "maintain/left_over.hpp"
#include "maintain/new_cache.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

struct RewriteReport {
  bool unchanged = false;  // its bytes were canonical already
  bool is_baked = false;   // its records are normalized by the corpus' statistics, now or before
  std::uint64_t generation_before = 1;
  std::uint64_t record_count = 0;
  std::uint64_t left_behind_count = 0;  // records that no clip named any more
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  // The statistics are of the present clips. Kept statistics are those of the first publication.
  bool statistics_changed = false;
  // convert: the run before had published the cache, and died before its end.
  bool is_completed = false;
  LeftOver left_over = {};
};

struct CompactRequest {
  std::string cache;
  bool keep_statistics = false;
  WriteRun run = {};
};

struct ConvertRequest {
  std::string from;
  std::string to;  // absent, an empty folder, or what an interrupted convert has left
  formats::StorageConfig storage;
  // Normalizes the mel by the corpus' statistics once, here, to the same bits as a reader with
  // Normalize::kCorpus.
  bool bake_corpus = false;
  WriteRun run = {};
};

// Makes one generation without tombstones. It equals, byte for byte, a new cache of the same clips
// with the same numbers of speakers and languages (these never change). While a reader holds an
// older generation, only the number of the generation differs.
[[nodiscard]] Result<RewriteReport> compact(Env& env, const CompactRequest& request);

// Makes a cache that equals, byte for byte, one built in that storage, except for the statistics.
// These are the published ones, so that training on one cache can continue with the other. Half
// floats are not widened again: kInvalidArgument.
//
// A baked cache says so in its features section, with the numbers that were used; padding stays as
// it is. A cache that is already baked, has no statistics, or pads samples, is not baked:
// kInvalidArgument. If the dtype cannot hold a value of some clip, kInvalidArgument names such
// clips, and nothing is published.
[[nodiscard]] Result<RewriteReport> convert(Env& env, const ConvertRequest& request);

}  // namespace xtts::maintain
