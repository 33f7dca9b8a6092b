// build: DATA and a recipe -> a published cache; continues or updates what is there (README.md
// beside this file).
//
// One build at a time on a cache (the folder's lock). The observer is told from inside: before()
// once, on the calling thread; progress() on whichever thread commits, one call at a time, so it
// must be cheap; cancelled() from any thread. Failures: kInvalidArgument, kNotFound (DATA),
// kMismatch (another recipe, with the differences), kBusy, kResource, kTooManyRejects, kCancelled
// (sealed work is kept), kCorrupt (the published cache is damaged), kInternal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/env.hpp"
#include "dsp/extract.hpp"
#include "formats/corpora.hpp"
#include "formats/recipe.hpp"
#include "formats/reject.hpp"
#include "pipeline/losses.hpp"
#include "pipeline/partition_choice.hpp"
#include "pipeline/run_config.hpp"
#include "pipeline/stage_times.hpp"
#include "pipeline/warning_kinds.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

struct RejectLimit {
  std::optional<std::uint64_t> count;  // unset: the share decides
  double share = 0.05;                 // of planned clips
};

struct BuildRequest {
  std::string data;
  std::vector<formats::CorporaEntry> corpora;  // of DATA, where it is a corpora.yaml
  std::vector<std::string> audio_roots = {};   // folders outside of DATA that hold audio, too
  std::string cache;
  formats::Recipe recipe;
  RunConfig run;
  dsp::Isa isa = dsp::Isa::kBest;
  RejectLimit max_rejects;                  // faults
  LossLimits max_losses;                    // policy drops, vanished clips
  bool without_text = false;                // lists that cannot be read are no reason to stop then
  std::vector<std::string> known_speakers;  // numbers 0, 1, ... of a new cache
  bool overwrite = false;                   // begin anew beside whatever is published
  // With overwrite: only beside the generation of this index. Another one, published since the
  // caller looked, is brought up to date.
  std::string overwrite_only;
  bool allow_mixed = false;  // update a cache that another CPU or library version made
  bool retry_rejects = false;
  bool dry_run = false;  // stop after before()
  // One part of a cache that merge joins. A published part is done: the same request changes
  // nothing.
  std::optional<PartitionChoice> partition = {};
};

struct StorageChoice {
  std::string name;  // "padded float32"
  std::uint64_t size_bytes = 0;
  bool chosen = false;
};

// What is known before anything is decoded but a small sample.
struct BuildPreview {
  std::string layout;
  std::uint64_t clip_count = 0;
  std::uint64_t to_compute_count = 0;
  std::uint64_t reused_count = 0;
  std::uint64_t gone_count = 0;    // in the cache, not chosen of DATA any more
  std::uint64_t sealed_count = 0;  // of to_compute: done by the interrupted build before
  std::uint64_t source_bytes = 0;
  std::map<std::string, std::uint64_t> clips_by_split;
  bool has_text = false;
  std::vector<std::string> notes;
  std::map<std::string, std::uint64_t> not_audio;  // files by suffix, as in corpus::Corpus
  std::vector<DropRemedy> drops;                   // what rules drop already, by their texts
  bool would_pass_max_dropped = false;             // the build ends before it computes anything
  bool would_pass_max_gone = false;
  std::uint64_t renamed_count = 0;       // of to_compute: copied from the cache, not decoded
  std::vector<formats::Reject> rejects;  // known already: lists and texts
  std::map<std::string, std::uint64_t> unknown_characters;
  // From a sample of the clips to compute; unset where there was nothing to sample.
  std::optional<double> sound_seconds;
  std::optional<double> build_seconds;
  std::optional<std::pair<double, double>>
      build_seconds_range;           // from, to: what it will lie within
  DropRemedy expected_drops;         // of clips that are too long; no key: none are expected
  double expected_drop_share = 0.0;  // of clips, or of hours
  std::uint64_t expected_cut_count = 0;
  std::vector<StorageChoice> storage;  // estimates, but for padded ones
  std::uint64_t free_bytes = 0;
};

struct BuildProgress {
  std::uint64_t done_count = 0;  // clips, rejected ones included
  std::uint64_t total_count = 0;
  std::uint64_t reject_count = 0;
  std::uint64_t source_bytes = 0;
  double sound_seconds = 0.0;
};

class BuildObserver {
 public:
  virtual ~BuildObserver() = default;
  // Hours, sizes and time cost the decoding of a small sample: only where somebody reads them.
  [[nodiscard]] virtual bool wants_estimate() const { return true; }
  // Of CACHE's file system, and of a builder elsewhere that may be dead; before all else.
  virtual void notice(const std::string& /*text*/) {}
  virtual void before(const BuildPreview& preview) = 0;
  virtual void progress(const BuildProgress& progress) = 0;
  [[nodiscard]] virtual bool cancelled() const = 0;
};

struct BuildReport {
  bool unchanged = false;  // nothing was published: the cache already says all of this
  std::uint64_t generation = 0;
  std::uint64_t clip_count = 0;    // planned
  std::uint64_t record_count = 0;  // in the cache now
  std::uint64_t computed_count = 0;
  std::uint64_t reused_count = 0;
  std::uint64_t gone_count = 0;  // not chosen of DATA any more, so no longer in the cache
  double sound_seconds = 0.0;    // in the cache now
  std::uint64_t cache_bytes = 0;
  std::map<std::string, std::uint64_t> records_by_split;
  std::vector<formats::Reject> rejects;
  Accounting accounting;          // every clip once; nothing where unchanged
  std::vector<DropRemedy> drops;  // by rule
  std::uint32_t frames_needed =
      0;                        // max_frames that would drop or cut nothing; 0 where nothing was
  std::uint64_t cut_count = 0;  // stored, but cut to max_frames
  std::uint64_t cut_text_count = 0;   // stored, but their tokens are cut to max_tokens
  std::uint64_t warned_count = 0;     // stored, but with warnings
  std::vector<WarningKind> warnings;  // the commonest first
  std::uint64_t speaker_count = 0;
  StageTimes times;  // of this run
};

[[nodiscard]] Result<BuildReport> build(Env& env, const BuildRequest& request,
                                        BuildObserver& observer);

}  // namespace xtts::pipeline
