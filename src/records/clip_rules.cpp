#include "records/clip_rules.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "formats/corpus_config.hpp"
#include "formats/rules.hpp"

namespace xtts::records {
namespace {

using formats::CorpusConfig;
using formats::OddClip;
using formats::Reason;
using formats::RecordFacts;
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

}  // namespace

Reason refusal_of_source(const CorpusConfig& rules) {
  return {.rule = Rule::kSourceTooLong, .numbers = {rules.max_source_seconds}};
}

std::optional<Reason> refusal_of_length(double source_seconds, const CorpusConfig& rules) {
  const auto limit = rules.max_clip_seconds;
  if (!limit || source_seconds <= *limit) return std::nullopt;
  return Reason{.rule = Rule::kClipTooLong, .numbers = {source_seconds, *limit}};
}

std::optional<Reason> refusal_of(const RecordFacts& facts, const CorpusConfig& rules) {
  if (const auto rate_hz = facts.source_rate_hz.value_or(0); rate_hz > 0) {
    const auto frames = static_cast<double>(facts.source_frame_count.value_or(0));
    if (auto refusal = refusal_of_length(frames / rate_hz, rules)) return refusal;
  }
  for (const Oddity& oddity : oddities_of(facts, rules)) {
    if (oddity.action == OddClip::kDrop) return oddity.reason;
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
    return formats::info_of(warning.rule).effect == formats::Effect::kChosen;
  });
}

}  // namespace xtts::records
