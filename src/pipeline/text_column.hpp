// Turns a clip's text into tokens, and into what the index holds of it. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "corpus/corpus.hpp"
#include "formats/facts.hpp"
#include "formats/recipe_fwd.hpp"
#include "text/normalizer.hpp"
#include "text/tokenizer.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// The index's facts of a clip's text.
struct ClipText {
  std::optional<formats::Reason> refusal;  // set: the text breaks this rule; nothing else is set
  std::uint32_t token_count = 0;
  bool was_cut = false;
  std::vector<std::int32_t> tokens;
  formats::RecordFacts facts;
};

// Turns the texts of the lists into those that a cache keeps: none without text.store; else what
// text.normalize makes is the normalized text. A text of which nothing is left is gone. A view of
// the config. One thread at a time.
class TextTaker {
 public:
  // kUnsupported: a table that this version cannot read.
  [[nodiscard]] static Result<TextTaker> create(const formats::TextConfig& config);
  void apply(corpus::Clip& clip) const;

 private:
  explicit TextTaker(const formats::TextConfig& config) : config_(config) {}

  const formats::TextConfig& config_;
  std::optional<text::TextNormalizer> normalizer_;
};
// The same for all clips of a corpus.
[[nodiscard]] Status take_texts(const formats::TextConfig& config, corpus::Corpus& corpus);
// The index's facts of a text that has no tokens; empty without a text.
[[nodiscard]] formats::RecordFacts facts_of_untokenized(const corpus::Clip& clip,
                                                        const formats::TextConfig& config);
[[nodiscard]] ClipText tokenize_clip(const corpus::Clip& clip, const text::Tokenizer& tokenizer,
                                     const formats::TextConfig& config);
// `clip` is one that a plan has taken: kInternal if a rule refuses its text.
[[nodiscard]] Result<ClipText> tokenize_planned_clip(const corpus::Clip& clip,
                                                     const text::Tokenizer& tokenizer,
                                                     const formats::TextConfig& config);

}  // namespace xtts::pipeline
