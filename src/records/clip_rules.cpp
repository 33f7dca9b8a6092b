#include "records/clip_rules.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "formats/corpus_config.hpp"
#include "formats/recipe.hpp"
#include "formats/rules.hpp"
#include "records/too_long.hpp"

namespace xtts::records {
namespace {

using formats::CorpusConfig;
using formats::CutClip;
using formats::OddClip;
using formats::Reason;
using formats::RecordFacts;
using formats::RejectClass;
using formats::Rule;

struct Oddity {
  OddClip action;
  Reason reason;
};

// A fact that is not known is not odd: a part of a source does not state clipped samples.
std::vector<Oddity> oddities_of(const RecordFacts& facts, const CorpusConfig& rules) {
  std::vector<Oddity> found;
  const double rate_hz = facts.source_rate_hz.value_or(0);
  const auto frames = static_cast<double>(facts.source_frame_count.value_or(0));
  if (rate_hz > 0.0 && frames / rate_hz < rules.too_short_seconds)
    found.push_back({rules.too_short, {.rule = Rule::kTooShort, .numbers = {frames / rate_hz}}});
  const double peak = static_cast<double>(facts.peak.value_or(1.0F));
  if (peak < std::pow(10.0, rules.silent_dbfs / 20.0))
    found.push_back({rules.silent, {.rule = Rule::kSilent}});
  const double samples = frames * facts.source_channel_count.value_or(1);
  const auto clipped = static_cast<double>(facts.clipped_sample_count.value_or(0));
  if (samples > 0.0 && clipped > rules.clipped_share * samples)
    found.push_back({rules.clipped, {.rule = Rule::kClipped, .numbers = {clipped / samples}}});
  if (const auto count = facts.nonfinite_sample_count.value_or(0); count > 0) {
    found.push_back(
        {rules.not_finite, {.rule = Rule::kNotFinite, .numbers = {static_cast<double>(count)}}});
  }
  if (rate_hz > 0.0 && rate_hz < rules.source_rate_below)
    found.push_back({rules.low_rate, {.rule = Rule::kLowRate, .numbers = {rate_hz}}});
  return found;
}

// Decoding tells these first. Whatever else it tells stands behind the signs of a cut.
bool precedes_signs(const Reason& warning) {
  return warning.rule == Rule::kRateChanges || warning.rule == Rule::kDecoderComplains;
}

bool is_sign(const Reason& warning) {
  return is_sign_of_cut(warning.rule);
}

std::optional<Refusal> refusal_of_cut(const RecordFacts& facts, CutClip action, bool has_text) {
  if (action == CutClip::kAuto) action = has_text ? CutClip::kReject : CutClip::kWarn;
  if (action != CutClip::kDrop && action != CutClip::kReject) return std::nullopt;
  const auto kind = action == CutClip::kDrop ? RejectClass::kPolicy : RejectClass::kInput;
  for (const auto* reasons : {&facts.warnings, &facts.kept_signs}) {
    const auto sign = std::ranges::find_if(*reasons, is_sign);
    if (sign != reasons->end()) return Refusal{kind, *sign};
  }
  return std::nullopt;
}

}  // namespace

bool is_sign_of_cut(Rule rule) noexcept {
  return formats::info_of(rule).setting == "corpus.truncated";
}

bool is_void_without_text(Rule rule, const formats::Recipe& recipe) {
  if (is_sign_of_cut(rule)) return recipe.corpus.truncated == CutClip::kAuto;
  return rule == Rule::kTooLong && depends_on_text(*recipe.features);
}

Reason refusal_of_source(const CorpusConfig& rules) {
  return {.rule = Rule::kSourceTooLong, .numbers = {rules.max_source_seconds}};
}

std::optional<Reason> refusal_of_length(double source_seconds, const CorpusConfig& rules) {
  const auto limit = rules.max_clip_seconds;
  if (!limit || source_seconds <= *limit) return std::nullopt;
  return Reason{.rule = Rule::kClipTooLong, .numbers = {source_seconds, *limit}};
}

std::optional<Refusal> refusal_of(const RecordFacts& facts, const CorpusConfig& rules,
                                  bool has_text) {
  if (const auto rate_hz = facts.source_rate_hz.value_or(0); rate_hz > 0) {
    const auto frames = static_cast<double>(facts.source_frame_count.value_or(0));
    // The facts of a part have the part's length.
    const bool is_whole = !facts.segment_start_s;
    constexpr double kRounding = 1.0 + 1e-9;  // as the decoder, which sums many frames
    if (is_whole && frames / rate_hz > rules.max_source_seconds * kRounding)
      return Refusal{RejectClass::kPolicy, refusal_of_source(rules)};
    if (auto refusal = refusal_of_length(frames / rate_hz, rules))
      return Refusal{RejectClass::kPolicy, std::move(*refusal)};
  }
  if (auto refusal = refusal_of_cut(facts, rules.truncated, has_text)) return refusal;
  for (const Oddity& oddity : oddities_of(facts, rules)) {
    if (oddity.action == OddClip::kDrop) return Refusal{RejectClass::kPolicy, oddity.reason};
  }
  return std::nullopt;
}

Reason refusal_of_duplicate(std::string first_id) {
  return {.rule = Rule::kSameSound, .detail = std::move(first_id)};
}

Reason refusal_of_no_text() {
  return {.rule = Rule::kNoText};
}

void judge(const CorpusConfig& rules, bool lacks_text, std::string first_id, RecordFacts& facts) {
  forget_judgement(facts);
  if (rules.truncated == CutClip::kKeep) {
    std::ranges::copy_if(facts.warnings, std::back_inserter(facts.kept_signs), is_sign);
    std::erase_if(facts.warnings, is_sign);
  }
  auto oddities = oddities_of(facts, rules);
  if (!first_id.empty())
    oddities.push_back({rules.duplicates, refusal_of_duplicate(std::move(first_id))});
  if (lacks_text) oddities.push_back({rules.no_text, refusal_of_no_text()});
  for (Oddity& oddity : oddities) {
    if (oddity.action == OddClip::kWarn) facts.warnings.push_back(std::move(oddity.reason));
  }
}

void forget_judgement(RecordFacts& facts) {
  std::erase_if(facts.warnings, [](const Reason& warning) {
    return formats::info_of(warning.rule).effect == formats::Effect::kChosen && !is_sign(warning);
  });
  const auto place = std::ranges::find_if_not(facts.warnings, precedes_signs);
  facts.warnings.insert(place, facts.kept_signs.begin(), facts.kept_signs.end());
  facts.kept_signs.clear();
}

}  // namespace xtts::records
