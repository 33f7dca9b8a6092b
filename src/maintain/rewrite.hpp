// Writing a cache anew from a cache, without the sources: compact (in place, canonical bytes) and
// convert (beside it, in another storage). Both read every record through its check, lay it out as
// a build from nothing would, publish, verify every byte of what was published, and only then let
// go of what it replaces.
//
// Bytes in and out: the cache, once each, and once more for the verification. Memory: two shard
// images, about 400 bytes a clip. A crash at any point leaves the old cache as it was, or the new
// one, whole; the same command goes on from the beginning. Failures: kBusy, kCorrupt (damage in
// what is read: verify, repair), kInvalidArgument, kMismatch (records of two numerics), kResource
// (with the bytes that are needed), kCancelled.
#pragma once

#include <cstdint>
#include <string>

#include "base/env.hpp"
#include "formats/storage_config.hpp"
#include "maintain/new_cache.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

struct RewriteReport {
  bool unchanged = false;  // its bytes were canonical already
  bool is_baked = false;   // its records are normalized by the corpus' statistics, now or before
  std::uint64_t generation_before = 1;
  std::uint64_t generation_after = 1;  // more: not canonical, as readers hold older generations
  std::uint64_t record_count = 0;
  std::uint64_t left_behind_count = 0;  // records that no clip named any more
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  // The statistics are of the clips that are there now; kept ones are those of the first
  // publication.
  bool statistics_changed = false;
};

struct CompactRequest {
  std::string cache;
  bool keep_statistics = false;
  WriteRun run = {};
};

struct ConvertRequest {
  std::string from;
  std::string to;  // absent, or an empty folder, or what an interrupted convert left
  formats::StorageConfig storage;
  // Normalize the mel by the corpus' statistics, as readers do that are asked for it
  // (Normalize::kCorpus): once, here, to the same bits.
  bool bake_corpus = false;
  WriteRun run = {};
};

// One generation, without tombstones: byte for byte a cache built from nothing from the same clips
// with the same numbers of speakers and languages (these never change). While a reader holds a
// generation before the present one, only the number of the generation differs.
[[nodiscard]] Result<RewriteReport> compact(Env& env, const CompactRequest& request);

// Byte for byte a cache built in that storage, but for the statistics: these are the published
// ones, so that what was trained with the one cache goes on with the other. Half floats are not
// widened again: kInvalidArgument. A cache that is baked says so in its features section, with the
// numbers that were used; padding stays as it is. What is baked already, has no statistics, or pads
// samples, is not baked: kInvalidArgument. A dtype that cannot hold a value of some clip is
// kInvalidArgument, too, and names such clips; nothing is published.
[[nodiscard]] Result<RewriteReport> convert(Env& env, const ConvertRequest& request);

}  // namespace xtts::maintain
