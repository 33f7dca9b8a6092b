#include "pipeline/clip_rules.hpp"

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace xtts::pipeline {
namespace {

using formats::CorpusConfig;
using formats::OddClip;
using formats::RecordFacts;

constexpr const char* kNoText = "no text";

struct Oddity {
  OddClip action;
  const char* key;  // of the rule, in the corpus section
  std::string what;
};

template <typename... Values>
std::string text_of(const char* format, Values... values) {
  char text[160];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string same_sound(const std::string& first_id) {
  return "the same samples as " + first_id;
}

std::string kept_by(const std::string& what, const char* key) {
  return what + ": corpus." + key + "=warn keeps it";
}

// What is not known is not odd: a part of a source does not state clipped samples.
std::vector<Oddity> oddities_of(const RecordFacts& facts, const CorpusConfig& rules) {
  std::vector<Oddity> found;
  const double rate_hz = facts.source_rate_hz.value_or(0);
  const auto frames = static_cast<double>(facts.source_frame_count.value_or(0));
  if (rate_hz > 0.0 && frames / rate_hz < rules.too_short_seconds) {
    found.push_back(
        {rules.too_short, "too_short", text_of("very short: %.2f ms", 1e3 * frames / rate_hz)});
  }
  const double peak = static_cast<double>(facts.peak.value_or(1.0F));
  if (peak < std::pow(10.0, rules.silent_dbfs / 20.0))
    found.push_back({rules.silent, "silent", "silent"});
  const double samples = frames * facts.source_channel_count.value_or(1);
  const auto clipped = static_cast<double>(facts.clipped_sample_count.value_or(0));
  if (samples > 0.0 && clipped > rules.clipped_share * samples) {
    found.push_back({rules.clipped, "clipped",
                     text_of("clipped: %.2f %% of its samples", 1e2 * clipped / samples)});
  }
  if (const auto count = facts.nonfinite_sample_count.value_or(0); count > 0) {
    found.push_back(
        {rules.not_finite, "not_finite",
         std::to_string(count) + " samples are NaN, infinite or beyond 1e30: taken as 0"});
  }
  if (rate_hz > 0.0 && rate_hz < rules.source_rate_below)
    found.push_back({rules.low_rate, "low_rate", text_of("low sample rate: %.0f Hz", rate_hz)});
  return found;
}

}  // namespace

Refusal refusal_of_source(const CorpusConfig& rules) {
  return {"decode", text_of("longer than %g s: a higher corpus.max_source_seconds keeps it",
                            rules.max_source_seconds)};
}

std::optional<Refusal> refusal_of_length(double source_seconds, const CorpusConfig& rules) {
  const auto limit = rules.max_clip_seconds;
  if (!limit || source_seconds <= *limit) return std::nullopt;
  return Refusal{"decode", text_of("%.2f s, at most %.2f s: corpus.max_clip_seconds=%.0f keeps it",
                                   source_seconds, *limit, std::ceil(source_seconds))};
}

std::optional<Refusal> refusal_of(const RecordFacts& facts, const CorpusConfig& rules) {
  if (const auto rate_hz = facts.source_rate_hz.value_or(0); rate_hz > 0) {
    const auto frames = static_cast<double>(facts.source_frame_count.value_or(0));
    if (auto refusal = refusal_of_length(frames / rate_hz, rules)) return refusal;
  }
  for (const Oddity& oddity : oddities_of(facts, rules)) {
    if (oddity.action == OddClip::kDrop)
      return Refusal{"condition", kept_by(oddity.what, oddity.key)};
  }
  return std::nullopt;
}

Refusal refusal_of_duplicate(const std::string& first_id) {
  return {"duplicate", kept_by(same_sound(first_id), "duplicates")};
}

Refusal refusal_of_no_text() {
  return {"text", kept_by(kNoText, "no_text")};
}

void judge(const CorpusConfig& rules, bool lacks_text, const std::string& first_id,
           RecordFacts& facts) {
  forget_judgement(facts);
  std::string lines = facts.warnings.value_or("");
  auto oddities = oddities_of(facts, rules);
  if (!first_id.empty()) oddities.push_back({rules.duplicates, "", same_sound(first_id)});
  if (lacks_text) oddities.push_back({rules.no_text, "", kNoText});
  std::uint32_t added = 0;
  for (const Oddity& oddity : oddities) {
    if (oddity.action != OddClip::kWarn) continue;
    if (!lines.empty()) lines += '\n';
    lines += oddity.what;
    ++added;
  }
  facts.warnings = lines.empty() ? std::nullopt : std::optional(std::move(lines));
  facts.rule_warning_count = added == 0 ? std::nullopt : std::optional(added);
}

void forget_judgement(RecordFacts& facts) {
  std::string lines = facts.warnings.value_or("");
  for (auto count = facts.rule_warning_count.value_or(0); count > 0; --count) {
    const std::size_t end = lines.rfind('\n');
    lines.erase(end == std::string::npos ? 0 : end);
  }
  facts.warnings = lines.empty() ? std::nullopt : std::optional(std::move(lines));
  facts.rule_warning_count.reset();
}

}  // namespace xtts::pipeline
