#include "report/reasons.hpp"
#include "formats/rules.hpp"

#include <gtest/gtest.h>

namespace xtts::report {
namespace {

using formats::Reason;
using formats::Rule;

std::string of_reject(Reason reason) {
  return words_of(formats::Reject{.kind = formats::RejectClass::kPolicy,
                                  .id = "a",
                                  .path = "a.wav",
                                  .line = std::nullopt,
                                  .reason = std::move(reason)});
}

TEST(Words, AreMadeForEveryRule) {
  for (const formats::RuleInfo& info : formats::all_rules()) {
    const std::string words = words_of({.rule = info.rule, .numbers = {3, 4}, .detail = "why"});
    EXPECT_FALSE(words.empty()) << info.name;
    EXPECT_EQ(words.find("another version"), std::string::npos) << info.name;
  }
}

TEST(Words, OfADropNameTheSettingThatKeepsTheClip) {
  EXPECT_EQ(of_reject({.rule = Rule::kTooLong, .numbers = {1034, 800}}),
            "1034 frames, at most 800: features.max_frames=1034 keeps it");
  EXPECT_EQ(of_reject({.rule = Rule::kTextTooLong, .numbers = {218, 200}}),
            "218 tokens, at most 200: text.max_tokens=218 keeps it");
  EXPECT_EQ(of_reject({.rule = Rule::kClipTooLong, .numbers = {9.3, 5}}),
            "9.30 s, at most 5.00 s: corpus.max_clip_seconds=10 keeps it");
  EXPECT_EQ(of_reject({.rule = Rule::kSourceTooLong, .numbers = {0.45}}),
            "longer than 0.45 s: a higher corpus.max_source_seconds keeps it");
  EXPECT_EQ(of_reject({.rule = Rule::kSilent}), "silent: corpus.silent=warn keeps it");
  EXPECT_EQ(of_reject({.rule = Rule::kUnknownCharacters, .numbers = {1, 2}, .detail = "(U+0009)"}),
            "characters outside the vocabulary: (U+0009); text.unknown=drop leaves them out, "
            "text.unknown=unk keeps their place");
  EXPECT_EQ(of_reject({.rule = Rule::kSourceEmpty}), "the file is empty");
}

TEST(Words, OfAHeaderThatLiesGiveNoNumber) {
  EXPECT_EQ(words_of({.rule = Rule::kEndsEarly, .numbers = {0.5, 1.25}}),
            "stops 0.50 s early: its header promises 1.25 s");
  EXPECT_EQ(words_of({.rule = Rule::kEndsEarly, .numbers = {2.5e10, 2.5e10}}),
            "its header promises a length that no sound has");
}

TEST(Words, OfFeaturesTellAnotherScale) {
  EXPECT_EQ(words_of({.rule = Rule::kValuesNotFinite, .numbers = {1.5e38}, .detail = "mel"}),
            "column mel: values beyond float32, or no numbers; its samples reach 1.5e+38, where "
            "full scale is 1");
  EXPECT_EQ(words_of({.rule = Rule::kValuesNotFinite, .numbers = {0.5}, .detail = "mel"}),
            "column mel: values beyond float32, or no numbers");
}

TEST(Words, OfSeveralReasonsAreALineEach) {
  EXPECT_EQ(lines_of({}), "");
  const std::vector<Reason> reasons = {{.rule = Rule::kSilent},
                                       {.rule = Rule::kLowRate, .numbers = {8000}}};
  EXPECT_EQ(lines_of(reasons), "silent\nlow sample rate: 8000 Hz");
}

}  // namespace
}  // namespace xtts::report
