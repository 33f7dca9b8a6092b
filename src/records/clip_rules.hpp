// Clip rules: what the corpus section says of clips that are odd but whole. The functions judge
// facts only. So a clip just decoded and a clip stored under other rules get the same judgement.
//
// A clip that breaks a `drop` rule is a reject. A clip that breaks a `warn` rule is stored, with
// the rule among its warnings.
#pragma once

#include <optional>
#include <string>

#include "formats/facts.hpp"
#include "formats/recipe_fwd.hpp"
#include "formats/reject.hpp"

namespace xtts::records {

// True where the rule is a sign that a source is cut or damaged. Such a reason stands among the
// facts' warnings from decoding on, and corpus.truncated decides about it.
[[nodiscard]] bool is_sign_of_cut(formats::Rule rule) noexcept;

// True where a clip was refused only because it had a text; without it, it is judged anew.
[[nodiscard]] bool is_void_without_text(formats::Rule rule, const formats::Recipe& recipe);

struct Refusal {
  formats::RejectClass kind = formats::RejectClass::kPolicy;
  formats::Reason reason = {};
};

[[nodiscard]] formats::Reason refusal_of_source(
    const formats::CorpusConfig& rules);  // it is over long
// Judges by the length alone, before conditioning: an over-long clip is not conditioned at all.
[[nodiscard]] std::optional<formats::Reason> refusal_of_length(double source_seconds,
                                                               const formats::CorpusConfig& rules);
// Judges by the length and by all decoded and conditioned facts.
[[nodiscard]] std::optional<Refusal> refusal_of(const formats::RecordFacts& facts,
                                                const formats::CorpusConfig& rules, bool has_text);
// `first_id`: the earlier clip with the same samples.
[[nodiscard]] formats::Reason refusal_of_duplicate(std::string first_id);
[[nodiscard]] formats::Reason refusal_of_no_text();

// Adds each `warn` rule that the clip breaks to the facts' warnings, and removes what an earlier
// judgement added. `first_id` is empty where no earlier clip sounds the same.
void judge(const formats::CorpusConfig& rules, bool lacks_text, std::string first_id,
           formats::RecordFacts& facts);

// Leaves only the warnings that decoding and storing gave.
void forget_judgement(formats::RecordFacts& facts);

}  // namespace xtts::records
