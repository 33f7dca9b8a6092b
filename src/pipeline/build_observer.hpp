// BuildObserver: receives what a build reports while it runs, and can stop the build. The build
// calls before() once, on the calling thread; with nothing to do, only in a dry run. It calls
// progress() on the thread that commits, one call at a time, so progress() must be cheap. It calls
// cancelled() on any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/reject.hpp"
#include "pipeline/chosen_lengths.hpp"
#include "pipeline/drop_rules.hpp"

namespace xtts::pipeline {

struct StorageChoice {
  std::string name;  // "padded float32"
  std::uint64_t size_bytes = 0;
  bool chosen = false;
};

// The facts that the build knows when it has decoded at most a small sample.
struct BuildPreview {
  std::string layout;
  std::uint64_t clip_count = 0;
  std::uint64_t to_compute_count = 0;
  std::uint64_t reused_count = 0;
  std::uint64_t gone_count = 0;    // in the cache, no longer chosen from DATA
  std::uint64_t sealed_count = 0;  // part of to_compute: done by an interrupted build
  std::uint64_t source_bytes = 0;
  std::map<std::string, std::uint64_t> clips_by_split;
  bool has_text = false;
  ChosenLengths lengths;
  std::vector<std::string> notes;
  std::map<std::string, std::uint64_t> not_audio;  // files by suffix, as in corpus::Corpus
  std::vector<DropRemedy> drops;        // clips that rules drop already, known from their texts
  bool would_pass_max_dropped = false;  // the build ends before it computes anything
  bool would_pass_max_rejects = false;  // likewise
  bool would_pass_max_gone = false;
  std::uint64_t renamed_count = 0;       // part of to_compute: copied from the cache, not decoded
  std::vector<formats::Reject> rejects;  // known already: lists and texts
  std::map<std::string, std::uint64_t> unknown_characters;
  // Estimated from a sample of the clips to compute; unset if there was nothing to sample.
  std::optional<double> sound_seconds;
  std::optional<double> build_seconds;
  std::optional<std::pair<double, double>>
      build_seconds_range;  // from, to: what it will lie within
  // The most that a device other than the CPU can save: the features' share of the CPU's time.
  // Unset on the CPU, and outside of a dry run.
  std::optional<double> most_saved_share;
  DropRemedy expected_drops;         // clips that are too long; no key: none are expected
  double expected_drop_share = 0.0;  // share of clips, or of hours
  std::uint64_t expected_cut_count = 0;
  std::vector<StorageChoice> storage;  // estimates, except for padded ones
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
  // Hours, sizes and time cost the decoding of a small sample, so answer true only if somebody
  // reads them.
  [[nodiscard]] virtual bool wants_estimate() const { return true; }
  // Tells about CACHE's file system, about a builder elsewhere that may be dead, or about the given
  // speakers. Called before before().
  virtual void notice(const std::string& /*text*/) {}
  virtual void before(const BuildPreview& preview) = 0;
  virtual void progress(const BuildProgress& progress) = 0;
  [[nodiscard]] virtual bool cancelled() const = 0;
};

}  // namespace xtts::pipeline
