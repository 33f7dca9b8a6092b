#include "records/clip_rules.hpp"
#include "formats/corpus_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/rules.hpp"
#include "report/reasons.hpp"

namespace xtts::records {
namespace {

using formats::CorpusConfig;
using formats::CutClip;
using formats::OddClip;
using formats::Rule;
using ::testing::ElementsAre;

formats::RecordFacts plain() {
  formats::RecordFacts facts;
  facts.source_rate_hz = 22050;
  facts.source_channel_count = std::uint16_t{2};
  facts.source_frame_count = 44100;
  facts.clipped_sample_count = 0;
  facts.peak = 0.5F;
  return facts;
}

std::string warnings_of(formats::RecordFacts facts, const CorpusConfig& rules = {}) {
  judge(rules, false, "", facts);
  return report::lines_of(facts.warnings);
}

TEST(ClipRules, OrdinarySpeechBreaksNone) {
  EXPECT_EQ(warnings_of(plain()), "");
  EXPECT_FALSE(refusal_of(plain(), {}, true));
}

struct OddCase {
  const char* key;
  OddClip CorpusConfig::*rule;
  void (*make_odd)(formats::RecordFacts&);
  const char* warning;
};

const OddCase kOddCases[] = {
    {"too_short", &CorpusConfig::too_short, [](auto& facts) { facts.source_frame_count = 220; },
     "very short: 9.98 ms"},
    {"silent", &CorpusConfig::silent, [](auto& facts) { facts.peak = 0.00009F; }, "silent"},
    {"clipped", &CorpusConfig::clipped, [](auto& facts) { facts.clipped_sample_count = 882; },
     "clipped: 1.00 % of its samples"},
    {"not_finite", &CorpusConfig::not_finite, [](auto& facts) { facts.nonfinite_sample_count = 3; },
     "3 samples are NaN, infinite or beyond 1e30: taken as 0"},
    {"low_rate", &CorpusConfig::low_rate, [](auto& facts) { facts.source_rate_hz = 1234; },
     "low sample rate: 1234 Hz"},
};

TEST(ClipRules, AnOddClipIsStoredWithAWordUnlessTheRuleSaysOtherwise) {
  for (const OddCase& odd : kOddCases) {
    auto facts = plain();
    odd.make_odd(facts);
    CorpusConfig rules;
    EXPECT_EQ(warnings_of(facts, rules), odd.warning);
    EXPECT_FALSE(refusal_of(facts, rules, true)) << odd.key;

    rules.*odd.rule = OddClip::kDrop;
    const auto refusal = refusal_of(facts, rules, true);
    ASSERT_TRUE(refusal) << odd.key;
    EXPECT_EQ(refusal->kind, formats::RejectClass::kPolicy);
    EXPECT_EQ(formats::name_of(refusal->reason.rule), odd.key);
    EXPECT_EQ(formats::info_of(refusal->reason.rule).setting, std::string("corpus.") + odd.key);
    EXPECT_EQ(report::words_of(refusal->reason), odd.warning);
    EXPECT_FALSE(refusal_of(plain(), rules, true)) << odd.key;

    rules.*odd.rule = OddClip::kKeep;
    EXPECT_EQ(warnings_of(facts, rules), "") << odd.key;
    EXPECT_FALSE(refusal_of(facts, rules, true)) << odd.key;
  }
}

TEST(ClipRules, BoundsAreSettings) {
  auto facts = plain();
  CorpusConfig rules;
  rules.source_rate_below = 24000;
  EXPECT_EQ(warnings_of(facts, rules), "low sample rate: 22050 Hz");
  rules = {};
  rules.silent_dbfs = -6.0;
  EXPECT_EQ(warnings_of(facts, rules), "silent");
  rules = {};
  rules.too_short_seconds = 2.1;
  EXPECT_EQ(warnings_of(facts, rules), "very short: 2000.00 ms");
  rules = {};
  facts.clipped_sample_count = 1;
  rules.clipped_share = 0.0;
  EXPECT_EQ(warnings_of(facts, rules), "clipped: 0.00 % of its samples");
}

TEST(ClipRules, AFewFullScaleSamplesAreNotClipping) {
  auto facts = plain();
  facts.clipped_sample_count = 88;
  EXPECT_EQ(warnings_of(facts), "");
}

// A part of a source does not state clipped samples.
TEST(ClipRules, WhatIsNotKnownIsNotOdd) {
  EXPECT_EQ(warnings_of({}), "");
}

TEST(ClipRules, AJudgementTakesThePlaceOfTheOneBefore) {
  auto facts = plain();
  const formats::Reason skipped{.rule = Rule::kPacketsSkipped, .numbers = {2}, .detail = "why"};
  facts.warnings = {skipped};
  facts.peak = 0.0F;
  judge({}, true, "first", facts);
  const formats::Reason silent{.rule = Rule::kSilent};
  EXPECT_THAT(facts.warnings,
              ElementsAre(skipped, silent, refusal_of_duplicate("first"), refusal_of_no_text()));
  judge({}, true, "", facts);
  EXPECT_THAT(facts.warnings, ElementsAre(skipped, silent, refusal_of_no_text()));
  facts.peak = 0.5F;
  judge({}, false, "", facts);
  EXPECT_THAT(facts.warnings, ElementsAre(skipped));
  facts.warnings.clear();
  judge({}, true, "", facts);
  judge({}, false, "", facts);
  EXPECT_TRUE(facts.warnings.empty());
}

const formats::Reason kSigns[] = {
    {.rule = Rule::kPacketsSkipped, .numbers = {2}, .detail = "why"},
    {.rule = Rule::kReadingStopped, .detail = "why"},
    {.rule = Rule::kEndsEarly, .numbers = {0.5, 2.0}},
    {.rule = Rule::kEndMissing, .detail = "why"},
};

std::string fate_of(const formats::RecordFacts& facts, CutClip action, bool has_text) {
  CorpusConfig rules;
  rules.truncated = action;
  if (const auto refusal = refusal_of(facts, rules, has_text))
    return std::string(formats::to_string(refusal->kind));
  return warnings_of(facts, rules).empty() ? "kept" : "warned";
}

TEST(CutClips, AreRejectedWithATextUnlessTheRuleSaysOtherwise) {
  for (const formats::Reason& sign : kSigns) {
    auto facts = plain();
    facts.warnings = {sign};
    EXPECT_EQ(fate_of(facts, CutClip::kAuto, true), "input");
    EXPECT_EQ(fate_of(facts, CutClip::kAuto, false), "warned");
    for (const bool has_text : {false, true}) {
      EXPECT_EQ(fate_of(facts, CutClip::kKeep, has_text), "kept");
      EXPECT_EQ(fate_of(facts, CutClip::kWarn, has_text), "warned");
      EXPECT_EQ(fate_of(facts, CutClip::kDrop, has_text), "policy");
      EXPECT_EQ(fate_of(facts, CutClip::kReject, has_text), "input");
      EXPECT_EQ(fate_of(plain(), CutClip::kReject, has_text), "kept");
    }
  }
}

// Another value of the rule finds the signs again, at the place where decoding put them.
TEST(CutClips, KeepTheirSignsWhereNobodyIsWarned) {
  CorpusConfig keep;
  keep.truncated = CutClip::kKeep;
  auto facts = plain();
  facts.peak = 0.0F;
  facts.warnings = {{.rule = Rule::kRateChanges, .numbers = {1}},
                    kSigns[0],
                    kSigns[2],
                    {.rule = Rule::kSegmentCut, .numbers = {2.0, 1.5}}};
  const auto decoded = facts;
  auto warned = facts;
  judge({}, false, "", warned);
  judge(keep, false, "", facts);
  const formats::Reason silent{.rule = Rule::kSilent};
  EXPECT_THAT(facts.warnings, ElementsAre(decoded.warnings[0], decoded.warnings[3], silent));
  EXPECT_THAT(facts.kept_signs, ElementsAre(kSigns[0], kSigns[2]));
  EXPECT_EQ(fate_of(facts, CutClip::kAuto, true), "input");
  judge(keep, false, "", facts);
  EXPECT_THAT(facts.kept_signs, ElementsAre(kSigns[0], kSigns[2]));
  auto of_sound = facts;
  forget_judgement(of_sound);
  EXPECT_EQ(of_sound, decoded);
  judge({}, false, "", facts);
  EXPECT_EQ(facts, warned);
}

}  // namespace
}  // namespace xtts::records
