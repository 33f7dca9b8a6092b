// BuildReport: what a build did. A plain value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/reject.hpp"
#include "pipeline/chosen_lengths.hpp"
#include "pipeline/losses.hpp"
#include "pipeline/warning_kinds.hpp"
#include "records/stage_times.hpp"

namespace xtts::pipeline {

struct BuildReport {
  bool unchanged = false;  // nothing was published: the cache already holds all of this
  std::uint64_t generation = 0;
  std::uint64_t clip_count = 0;    // planned
  std::uint64_t record_count = 0;  // in the cache now
  std::uint64_t computed_count = 0;
  std::uint64_t reused_count = 0;
  std::uint64_t gone_count = 0;  // no longer chosen from DATA, so no longer in the cache
  double sound_seconds = 0.0;    // in the cache now
  std::uint64_t cache_bytes = 0;
  std::map<std::string, std::uint64_t> records_by_split;
  std::vector<formats::Reject> rejects;
  Accounting accounting;          // every clip once; empty if unchanged
  std::vector<DropRemedy> drops;  // by rule
  ChosenLengths lengths;
  std::uint32_t frames_needed = 0;    // max_frames that would drop or cut nothing; 0 if nothing was
  std::uint64_t cut_count = 0;        // stored, but cut to max_frames
  std::uint64_t cut_text_count = 0;   // stored, but their tokens are cut to max_tokens
  std::uint64_t warned_count = 0;     // stored, but with warnings
  std::vector<WarningKind> warnings;  // the commonest first
  std::uint64_t speaker_count = 0;
  records::StageTimes times;  // of this run
};

}  // namespace xtts::pipeline
