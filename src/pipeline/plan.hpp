// Plan: what a build will do with each clip, found out without opening audio (but to hash a source
// whose size or mtime changed, and to look into files whose names do not say what they are).
// Immutable once made. Memory: about 300 bytes a clip and its text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "formats/recipe_fwd.hpp"
#include "formats/reject.hpp"
#include "pipeline/known_sounds.hpp"
#include "pipeline/partition_choice.hpp"
#include "reader/cache_view.hpp"
#include "store/source_table.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

enum class ClipFate : std::uint8_t {
  kCompute,
  kReuse,      // the published record stays
  kRejected,   // by its text, or as in the build before
  kElsewhere,  // another part's, of several that merge will join
};

// The index counts records in 32 bits.
struct PlannedClip {
  ClipFate fate = ClipFate::kCompute;
  std::uint32_t previous_position = 0;  // kReuse
  // kCompute: not decoded, but copied. The cache holds the same sound there, by an id that is gone.
  std::optional<std::uint32_t> copied_from = {};
};

struct Plan {
  corpus::Corpus corpus;
  std::vector<PlannedClip> clips;         // beside corpus.clips
  std::vector<std::uint32_t> to_compute;  // places in corpus.clips, ascending: canonical order
  std::vector<formats::Reject> rejects;   // lists, texts, and those kept from the build before
  std::map<std::string, std::uint64_t> unknown_characters;
  KnownSounds sounds;  // of the records that are reused, where duplicates are dropped
  // Published clips that the corpus names no more, by their id or another.
  std::uint64_t gone_count = 0;
  // Those of them that nobody asked to go: the corpus section is as it was, or the source is gone.
  std::uint64_t vanished_count = 0;
  std::vector<std::string> vanished_examples;  // full ids, a few
  std::string data_path;                       // absolute
  std::vector<std::string> audio_roots;        // absolute
  [[nodiscard]] std::uint64_t count_of(ClipFate fate) const;
  [[nodiscard]] std::uint64_t clip_count() const;  // without other parts'
  Digest to_compute_digest;                        // heads the journal
  Digest all_clips;                                // what parts must agree on
  Digest
      digest;  // of everything that decides the cache: equal to the last one means nothing changed
  bool unchanged = false;  // nothing to do; the fates below the rejects were not even looked at
  bool texts_changed =
      true;  // some stored clip's text, or the set of stored clips, differs from the published one;
             // what is still to compute adds to that if it comes to records
};

struct PlanRequest {
  Env& env;
  std::string data;
  std::span<const formats::CorporaEntry> corpora;  // empty: DATA is one corpus
  const formats::Recipe& recipe;
  reader::CacheView* previous = nullptr;  // what is published and may be reused
  const store::SourceTable* sources = nullptr;
  bool retry_rejects = false;
  bool without_text = false;    // as BuildRequest has it
  bool copies_renamed = false;  // published records were made by these numerics
  std::optional<PartitionChoice> partition = {};
  std::size_t clips_per_shard = 1;                // for `partition`
  audio::MakeDecoder make_decoder = {};           // as in RunConfig
  std::function<bool()> cancelled = {};           // as in RunConfig
  std::span<const std::string> audio_roots = {};  // as corpus::discover() takes them
  std::uint64_t memory_bytes = UINT64_MAX;        // likewise
};

[[nodiscard]] Result<Plan> make_plan(const PlanRequest& request);

// Whether a cache of the plan has the column tokens.
[[nodiscard]] bool has_tokens(const Plan& plan, const formats::Recipe& recipe);
[[nodiscard]] std::string_view text_to_tokenize(const corpus::Clip& clip,
                                                const formats::TextConfig& config);

}  // namespace xtts::pipeline
