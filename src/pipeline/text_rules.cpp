#include "pipeline/text_rules.hpp"

#include <utility>

#include "base/try.hpp"
#include "pipeline/build_plan.hpp"
#include "records/clip_rules.hpp"

namespace xtts::pipeline {

Result<TextRules> TextRules::create(const formats::Recipe& recipe, bool has_text) {
  TextRules rules(recipe, has_text);
  if (has_text && recipe.text.tokens != formats::TokenKind::kNone) {
    XTTS_ASSIGN(rules.tokenizer_, text::Tokenizer::create(recipe.text));
  }
  return rules;
}

bool TextRules::drops_for_want_of_text(const corpus::Clip& clip) const {
  return has_text_ && recipe_.corpus.no_text == formats::OddClip::kDrop && !has_text(clip);
}

std::optional<formats::Reason> TextRules::refusal_of_tokens(const corpus::Clip& clip,
                                                            UnknownCharacters& unknown) const {
  if (!tokenizer_) return std::nullopt;
  auto tokens = tokenizer_->encode(text_to_tokenize(clip, recipe_.text));
  if (tokens.refusal) return std::move(tokens.refusal);
  for (const auto& [character, count] : tokens.unknown) unknown[character] += count;
  return std::nullopt;
}

std::optional<formats::Reason> TextRules::refusal_of(const corpus::Clip& clip,
                                                     UnknownCharacters& unknown) const {
  if (drops_for_want_of_text(clip)) return records::refusal_of_no_text();
  return refusal_of_tokens(clip, unknown);
}

}  // namespace xtts::pipeline
