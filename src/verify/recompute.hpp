// Recomputer makes the records of a published cache again, with the code and the recipe that built
// it. Sound comes from the sources, tokens from the text that the index keeps.
//
// Synchronised inside, once created. Memory: the corpus (as a build's plan), and a share of
// Sources::memory_bytes for each thread that computes. Failures: those of discovery (DATA is not
// there, cannot be listed), kUnsupported (a recipe of a newer version), kResource. The answer
// holds the fault of a single clip's source.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/channel_norm.hpp"
#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe.hpp"
#include "pipeline/text_column.hpp"
#include "reader/index_reader.hpp"
#include "records/clip_workers.hpp"
#include "text/tokenizer.hpp"
#include "verify/evidence.hpp"
#include "verify/sources.hpp"

namespace xtts::verify {

enum class RecomputeResult : std::uint8_t {
  kRecord,
  kOtherSource,  // DATA has no such source any more, or another one
  kUnread,       // the source could not be read or decoded this time
  kRefused,      // the source is what it was, but makes no record
};

struct RecomputedClip {
  RecomputeResult result = RecomputeResult::kRecord;
  Evidence why_not = {};         // set if there is no record
  records::ClipOutcome outcome;  // its buffers always exist
};

class Recomputer {
 public:
  // Env, manifest and index must outlive the Recomputer. Without data in `sources` it makes only
  // tokens.
  [[nodiscard]] static Result<std::unique_ptr<Recomputer>> create(
      Env& env, const formats::Manifest& manifest, reader::IndexReader& index,
      const Sources& sources, std::uint32_t thread_count, CancelCheck cancelled = {});

  [[nodiscard]] const formats::Recipe& recipe() const noexcept { return recipe_; }
  // Returns the numerics of this machine in the manifest's form. Valid only where there are
  // sources.
  [[nodiscard]] const formats::Numerics& numerics() const noexcept { return numerics_; }

  // Names the clips that sound() will be called for (their full ids), so a source that several of
  // them share is decoded once. Call it once, before sound(), on one thread.
  void expect(std::span<const std::string> full_ids);
  // Call this instead if the clips are not known: any clip may follow, each once.
  void expect_all();

  // `stored` holds the clip's details in the index. `buffers` are reused.
  [[nodiscard]] Result<RecomputedClip> sound(const formats::RecordFacts& stored,
                                             std::vector<RecordRows> buffers);
  // Makes tokens of the stored text.
  [[nodiscard]] pipeline::ClipText tokens(const formats::RecordFacts& stored) const;
  // Returns the lists' present text if it differs; nothing if it does not, or if the lists do not
  // know the clip.
  [[nodiscard]] std::optional<std::string> other_text(const formats::RecordFacts& stored) const;

 private:
  void expect_places(std::span<const std::uint32_t> clips);
  Recomputer(Env& env, formats::Recipe recipe, const Sources& sources, std::uint32_t thread_count,
             text::Tokenizer tokenizer, CancelCheck cancelled);
  [[nodiscard]] Status discover(reader::IndexReader& index);
  [[nodiscard]] const corpus::Clip* find(const formats::RecordFacts& stored) const;
  [[nodiscard]] std::optional<formats::Reason> bake(records::ClipOutcome& outcome) const;
  // Hashes a source that its worker could not hash. Returns nothing if the source cannot be read.
  [[nodiscard]] std::optional<Digest> hash_source(const corpus::Clip& clip);

  Env& env_;
  const formats::Recipe recipe_;    // recipe of the stored records
  const formats::Recipe computed_;  // the same before baking
  std::optional<ChannelNorm> norm_;
  const Sources sources_;
  const std::uint32_t thread_count_;
  const CancelCheck cancelled_;
  formats::Numerics numerics_;  // unset without data
  const text::Tokenizer tokenizer_;
  corpus::Corpus corpus_;
  std::unordered_map<std::string, std::uint32_t> places_;  // in corpus_.clips, by full id
  std::optional<records::ClipWorkers> workers_;
};

}  // namespace xtts::verify
