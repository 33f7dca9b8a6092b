#include "pipeline/text_column.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "base/utf8.hpp"
#include "formats/canonical_json.hpp"
#include "formats/rules.hpp"
#include "pipeline/build_plan.hpp"

namespace xtts::pipeline {
namespace {

std::uint32_t count_characters(std::string_view text) {
  std::uint32_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  return count;
}

}  // namespace

Result<TextTaker> TextTaker::create(const formats::TextConfig& config) {
  TextTaker taker(config);
  if (config.store && !config.normalize.empty()) {
    XTTS_ASSIGN(taker.normalizer_, text::TextNormalizer::create(config.normalize));
  }
  return taker;
}

void TextTaker::apply(corpus::Clip& clip) const {
  if (!config_.store) {
    clip.text_raw.clear();
    clip.text_normalized.clear();
  }
  if (!normalizer_) return;
  const SharedText& chosen = config_.use_normalized && !clip.text_normalized.empty()
                                 ? clip.text_normalized
                                 : clip.text_raw;
  const std::string normalized = normalizer_->apply(chosen);
  const SharedText kept = normalized == chosen ? SharedText(chosen) : SharedText(normalized);
  if (normalized.empty()) clip.text_raw.clear();
  clip.text_normalized = kept;
}

Status take_texts(const formats::TextConfig& config, corpus::Corpus& corpus) {
  if (config.store && config.normalize.empty()) return {};
  XTTS_ASSIGN(const auto taker, TextTaker::create(config));
  for (corpus::Clip& clip : corpus.clips) taker.apply(clip);
  corpus.has_text =
      std::ranges::any_of(corpus.clips, [](const auto& one) { return has_text(one); });
  return {};
}

formats::RecordFacts facts_of_untokenized(const corpus::Clip& clip,
                                          const formats::TextConfig& config) {
  formats::RecordFacts facts;
  if (!has_text(clip)) return facts;
  facts.text_raw = clip.text_raw;
  facts.text_normalized = clip.text_normalized;
  facts.character_count = count_characters(text_to_tokenize(clip, config));
  return facts;
}

ClipText tokenize_clip(const corpus::Clip& clip, const text::Tokenizer& tokenizer,
                       const formats::TextConfig& config) {
  ClipText text;
  const std::string_view chosen = text_to_tokenize(clip, config);
  auto encoded = tokenizer.encode(chosen);
  if (encoded.refusal) {
    text.refusal = std::move(encoded.refusal);
    return text;
  }
  text.tokens = std::move(encoded.values);
  text.token_count = static_cast<std::uint32_t>(text.tokens.size());
  text.was_cut = encoded.truncated;
  text.facts.text_raw = clip.text_raw;
  text.facts.text_normalized = clip.text_normalized;
  text.facts.character_count = count_characters(chosen);
  if (encoded.truncated) text.facts.text_was_cut = std::uint8_t{1};
  if (!encoded.unknown.empty()) {
    text.facts.unknown_characters_json = formats::dump_canonical(nlohmann::json(encoded.unknown));
  }
  return text;
}

Result<ClipText> tokenize_planned_clip(const corpus::Clip& clip, const text::Tokenizer& tokenizer,
                                       const formats::TextConfig& config) {
  ClipText text = tokenize_clip(clip, tokenizer, config);
  if (!text.refusal) return text;
  return Status(StatusCode::kInternal, "a planned clip's text breaks the rule " +
                                           std::string(formats::name_of(text.refusal->rule)));
}

}  // namespace xtts::pipeline
