// Recomputer: the records of a published cache made again, by the code and the recipe that built
// it. Sound comes from the sources, tokens from the text that the index keeps.
//
// Synchronised inside, once created. Memory: the corpus (as a build's plan), and a share of
// Sources::memory_bytes for each thread that computes. Failures: those of discovery (DATA is not
// there, cannot be listed), kUnsupported (a recipe of a newer version), kResource; what is wrong
// with one clip's source is in the answer.
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

enum class Made : std::uint8_t {
  kRecord,
  kOtherSource,  // DATA has no such source any more, or another one
  kUnread,       // the source could not be read or decoded this time
  kRefused,      // the source is what it was, but makes no record
};

struct MadeAgain {
  Made made = Made::kRecord;
  Evidence why_not = {};         // where it is no record
  records::ClipOutcome outcome;  // its buffers are there in any case
};

// Whether the work is to stop, asked while a source is decoded; none: never.
using CancelWish = std::function<bool()>;

class Recomputer {
 public:
  // Env, manifest and index must outlive it. `sources` may be without data: then it makes tokens
  // alone.
  [[nodiscard]] static Result<std::unique_ptr<Recomputer>> create(
      Env& env, const formats::Manifest& manifest, reader::IndexReader& index,
      const Sources& sources, std::uint32_t thread_count, CancelWish cancelled = {});

  [[nodiscard]] const formats::Recipe& recipe() const noexcept { return recipe_; }
  // What this machine computes with, as the manifest would tell it. Only where there are sources.
  [[nodiscard]] const formats::Numerics& numerics() const noexcept { return numerics_; }

  // Which clips will be asked for (their full ids), so that a source which several of them share is
  // decoded once. Once, before sound(); one thread.
  void expect(std::span<const std::string> full_ids);
  // Where that is not known: any of them, each once.
  void expect_all();

  // `stored`: the clip's details in the index. `buffers` are reused.
  [[nodiscard]] Result<MadeAgain> sound(const formats::RecordFacts& stored,
                                        std::vector<records::MadeRecord> buffers);
  // Of the stored text.
  [[nodiscard]] pipeline::ClipText tokens(const formats::RecordFacts& stored) const;
  // What the lists say now, where it is another text; nothing where they do not know the clip.
  [[nodiscard]] std::optional<std::string> other_text(const formats::RecordFacts& stored) const;

 private:
  void expect_places(std::span<const std::uint32_t> clips);
  Recomputer(Env& env, formats::Recipe recipe, const Sources& sources, std::uint32_t thread_count,
             text::Tokenizer tokenizer, CancelWish cancelled);
  [[nodiscard]] Status discover(reader::IndexReader& index);
  [[nodiscard]] const corpus::Clip* find(const formats::RecordFacts& stored) const;
  [[nodiscard]] std::optional<formats::Reason> bake(records::ClipOutcome& outcome) const;
  // Of a source that its worker could not hash: nothing where it cannot be read.
  [[nodiscard]] std::optional<Digest> hash_source(const corpus::Clip& clip);

  Env& env_;
  const formats::Recipe recipe_;    // of what is stored
  const formats::Recipe computed_;  // of what sources make, before anything is baked in
  std::optional<ChannelNorm> norm_;
  const Sources sources_;
  const std::uint32_t thread_count_;
  const CancelWish cancelled_;
  formats::Numerics numerics_;  // unset without data
  const text::Tokenizer tokenizer_;
  corpus::Corpus corpus_;
  std::unordered_map<std::string, std::uint32_t> places_;  // in corpus_.clips, by full id
  std::optional<records::ClipWorkers> workers_;
};

}  // namespace xtts::verify
