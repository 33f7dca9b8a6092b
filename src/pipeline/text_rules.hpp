// TextRules: which clips a recipe refuses for their texts, before anything is decoded. Immutable,
// share freely.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "corpus/clips/clip.hpp"
#include "formats/recipe.hpp"
#include "text/tokenizer.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// Counts of characters that the vocabulary lacks.
using UnknownCharacters = std::map<std::string, std::uint64_t>;

class TextRules {
 public:
  // `has_text`: some clip of the corpus has a text. A view of the recipe.
  [[nodiscard]] static Result<TextRules> create(const formats::Recipe& recipe, bool has_text);

  // True where the recipe drops clips without a text, and this has none.
  [[nodiscard]] bool drops_for_want_of_text(const corpus::Clip& clip) const;
  // Why the tokens of the text are refused. Adds to `unknown` where they are not.
  [[nodiscard]] std::optional<formats::Reason> refusal_of_tokens(const corpus::Clip& clip,
                                                                 UnknownCharacters& unknown) const;
  // Either of them.
  [[nodiscard]] std::optional<formats::Reason> refusal_of(const corpus::Clip& clip,
                                                          UnknownCharacters& unknown) const;

 private:
  TextRules(const formats::Recipe& recipe, bool has_text) : recipe_(recipe), has_text_(has_text) {}

  const formats::Recipe& recipe_;
  bool has_text_;
  std::optional<text::Tokenizer> tokenizer_;  // unset: there are no tokens
};

}  // namespace xtts::pipeline
