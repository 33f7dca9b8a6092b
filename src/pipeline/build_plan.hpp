// BuildPlan: what a build will do with each clip. Planning opens no audio, except to hash a source
// whose size or mtime changed, and to look into files whose names do not state their format.
// Immutable once made. Memory: about 300 bytes a clip and its text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "formats/data_folders.hpp"
#include "formats/recipe_fwd.hpp"
#include "formats/reject.hpp"
#include "pipeline/known_sounds.hpp"
#include "reader/cache_view.hpp"
#include "store/source_table.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

struct BuildRequest;

enum class ClipFate : std::uint8_t {
  kCompute,
  kReuse,      // the published record stays
  kRejected,   // for its text, or as in the last build
  kElsewhere,  // another part makes it; merge will join the parts
};

// The index counts records in 32 bits.
struct PlannedClip {
  ClipFate fate = ClipFate::kCompute;
  std::uint32_t previous_position = 0;  // kReuse
  // For kCompute: the clip is copied, not decoded. The cache holds the same sound at this position,
  // by an id that is gone.
  std::optional<std::uint32_t> copied_from = {};
};

struct BuildPlan {
  corpus::Corpus corpus;
  std::vector<PlannedClip> clips;         // parallel to corpus.clips
  std::vector<std::uint32_t> to_compute;  // places in corpus.clips, ascending: canonical order
  std::vector<formats::Reject> rejects;   // from lists and texts, and kept from the last build
  std::map<std::string, std::uint64_t> unknown_characters;
  KnownSounds sounds;  // of the reused records, if duplicates are dropped
  // Published clips that the corpus no longer names, by their id or another.
  std::uint64_t gone_count = 0;
  // Gone clips that nobody asked to remove: the corpus section is unchanged, or the source is gone.
  std::uint64_t vanished_count = 0;
  std::vector<std::string> vanished_examples;  // full ids, a few
  formats::DataFolders data;                   // absolute
  // A part of a plan: clips and rejects of lists that are in the other parts. A share of losses is
  // of all of them.
  std::uint64_t elsewhere_count = 0;
  [[nodiscard]] std::uint64_t count_of(ClipFate fate) const;
  [[nodiscard]] std::uint64_t clip_count() const;  // without the clips of other parts
  Digest to_compute_digest;                        // stored in the journal's header
  Digest all_clips;                                // what parts must agree on
  Digest digest;           // of everything that decides the cache; the same as before: no change
  bool unchanged = false;  // nothing to do; the fates below the rejects were not even looked at
  // The text of a stored clip, or the set of stored clips, differs from the published one. Records
  // that are still to compute change the set, too.
  bool texts_changed = true;
};

struct PlanRequest {
  Env& env;
  const BuildRequest& build;
  const formats::Recipe& recipe;          // that of `build`, or the longest that it may become
  reader::CacheView* previous = nullptr;  // the published cache, for reuse
  const store::SourceTable* sources = nullptr;
  bool has_new_speakers =
      false;                    // names that the published cache has not: there is something to do
  bool copies_renamed = false;  // the same numerics made the published records
  std::size_t clips_per_shard = 1;          // for a partition
  std::uint64_t memory_bytes = UINT64_MAX;  // as for corpus::discover()
};

// Lists DATA, with the texts as a cache keeps them.
[[nodiscard]] Result<corpus::Corpus> discover_corpus(const PlanRequest& request);
// The same without its texts: the clips go to `receiver` as they are found (corpus/corpus.hpp).
[[nodiscard]] Result<corpus::Corpus> discover_passing(const PlanRequest& request,
                                                      corpus::FoundClips& receiver);
// kInvalidArgument where `corpus` would leave lists of DATA unread, and so lose their texts.
[[nodiscard]] Status check_lists_are_read(const corpus::Corpus& corpus, const std::string& data,
                                          const formats::Recipe& recipe);
// `found`: what discover_corpus() returned for this request, if it was asked before.
[[nodiscard]] Result<BuildPlan> make_plan(const PlanRequest& request,
                                          std::optional<corpus::Corpus> found = {});

// True where a cache of the plan has the column tokens.
[[nodiscard]] bool has_tokens(const BuildPlan& plan, const formats::Recipe& recipe);
[[nodiscard]] std::string_view text_to_tokenize(const corpus::Clip& clip,
                                                const formats::TextConfig& config);

}  // namespace xtts::pipeline
