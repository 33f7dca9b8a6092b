// Clip rules: what the corpus section says of clips that are odd but whole. A pure judgement of
// facts, so the same for a clip just decoded and for one whose record was stored under other rules.
//
// A clip that breaks a `drop` rule is a reject whose reason names the setting that keeps it; what
// breaks a `warn` rule is stored, with a line among its warnings.
#pragma once

#include <optional>
#include <string>

#include "formats/facts.hpp"
#include "formats/recipe.hpp"

namespace xtts::pipeline {

// A reason for a reject, with the stage that finds it out.
struct Refusal {
  const char* stage = "";
  std::string reason;
};

[[nodiscard]] Refusal refusal_of_source(const formats::CorpusConfig& rules);  // it is over long
// Known before conditioning: sparing it two hours of sound.
[[nodiscard]] std::optional<Refusal> refusal_of_length(double source_seconds,
                                                       const formats::CorpusConfig& rules);
// By the length and by all that the decoded and conditioned facts say.
[[nodiscard]] std::optional<Refusal> refusal_of(const formats::RecordFacts& facts,
                                                const formats::CorpusConfig& rules);
// `first_id`: the earlier clip with the same samples.
[[nodiscard]] Refusal refusal_of_duplicate(const std::string& first_id);
[[nodiscard]] Refusal refusal_of_no_text();

// Adds a line to the facts' warnings for each `warn` rule that the clip breaks, in the place of
// what an earlier judgement added. `first_id` is empty where no earlier clip sounds the same.
void judge(const formats::CorpusConfig& rules, bool lacks_text, const std::string& first_id,
           formats::RecordFacts& facts);

// Takes what judge() added away again.
void forget_judgement(formats::RecordFacts& facts);

}  // namespace xtts::pipeline
