// Which rule dropped a clip, and what would keep how many: from the rejects' numbers.
#include "pipeline/drop_rules.hpp"
#include "formats/feature_config.hpp"
#include "formats/rules.hpp"

#include <gtest/gtest.h>

#include "build_support.hpp"
#include "records/clip_rules.hpp"
#include "text/tokenizer.hpp"

namespace xtts::testing {
namespace {

using formats::Reject;
using formats::RejectClass;
using formats::Rule;

Reject drop(formats::Reason reason) {
  return {.kind = RejectClass::kPolicy,
          .id = "a",
          .path = "a.wav",
          .line = std::nullopt,
          .reason = std::move(reason),
          .split = "train"};
}

Reject too_long(double frames) {
  return drop({.rule = Rule::kTooLong, .numbers = {frames, 800.0}});
}

TEST(Drop, TellsTheValueThatKeepsIt) {
  EXPECT_EQ(pipeline::value_that_keeps(too_long(1397).reason), 1397.0);
  formats::CorpusConfig rules;
  rules.max_clip_seconds = 5.0;
  const auto length = records::refusal_of_length(9.3, rules);
  ASSERT_TRUE(length);
  EXPECT_EQ(length->rule, Rule::kClipTooLong);
  EXPECT_EQ(pipeline::value_that_keeps(*length), 10.0);
  EXPECT_EQ(pipeline::seconds_of_drop(drop(*length), {}), 9.3);
  EXPECT_EQ(pipeline::value_that_keeps(records::refusal_of_duplicate("b")), std::nullopt);
  EXPECT_EQ(pipeline::value_that_keeps(records::refusal_of_source({})), std::nullopt);
}

TEST(Drop, OfATextTellsTheTokensThatItNeeds) {
  auto tokenizer = text::Tokenizer::create(recipe_with({"text.max_tokens=4"}).text);
  const auto tokens = tokenizer->encode("abcdefg");
  ASSERT_TRUE(tokens.refusal);
  EXPECT_EQ(tokens.refusal->rule, Rule::kTextTooLong);
  EXPECT_EQ(pipeline::value_that_keeps(*tokens.refusal), 7.0);
}

TEST(Drop, IsAClipOfTheCorpusAlone) {
  EXPECT_TRUE(pipeline::is_drop(too_long(900)));
  Reject no_clip = too_long(900);
  no_clip.split.clear();  // what macOS leaves beside a file
  EXPECT_FALSE(pipeline::is_drop(no_clip));
  Reject fault = too_long(900);
  fault.kind = RejectClass::kInput;
  EXPECT_FALSE(pipeline::is_drop(fault));
}

// 200 clips: 2 may go where 99 % are kept. 5 are dropped, so the two longest may stay dropped.
TEST(Remedy, NamesTheValueByPercentileAndWhatItCosts) {
  const auto recipe = recipe_with();  // padded float32, 80 mels, 800 frames
  const std::vector<Reject> rejects = {too_long(900), too_long(3000), too_long(1000),
                                       too_long(2000), too_long(1100)};
  const auto remedies = pipeline::remedies_of(rejects, recipe, 200, 195);
  ASSERT_EQ(remedies.size(), 1U);
  EXPECT_EQ(remedies[0].count, 5U);
  ASSERT_TRUE(remedies[0].keeps_most && remedies[0].keeps_all);
  EXPECT_EQ(remedies[0].keeps_most->value, 1100.0);
  EXPECT_EQ(remedies[0].keeps_most->extra_bytes, 320U * (198U * 1100U - 195U * 800U));
  EXPECT_EQ(remedies[0].keeps_all->value, 3000.0);
  EXPECT_EQ(remedies[0].keeps_all->extra_bytes, 320U * (200U * 3000U - 195U * 800U));
  EXPECT_EQ(describe(remedies[0], recipe),
            "--set features.max_frames=1100 keeps 99 % of all clips and costs 18.9 MiB more, "
            "--set features.max_frames=3000 keeps all and costs 135 MiB more");
}

TEST(Remedy, OfAPackedCacheCostsTheFramesThatAreKept) {
  const auto recipe = recipe_with({"storage.layout=packed"});
  const auto remedies = pipeline::remedies_of({too_long(900), too_long(1000)}, recipe, 100, 98);
  EXPECT_EQ(remedies[0].keeps_most->extra_bytes, 320U * 900U);
  EXPECT_EQ(remedies[0].keeps_all->extra_bytes, 320U * 1900U);
}

// resampler: refuse drops by rate, and knows no "warn".
TEST(Remedy, OfAnotherRateIsASettingThatARecipeMayHave) {
  const auto remedies = pipeline::remedies_of(
      {drop({.rule = Rule::kOtherRate, .numbers = {44100, 22050}})}, recipe_with(), 2, 1);
  EXPECT_EQ(describe(remedies[0], recipe_with()),
            "--set features.resampler=soxr_hq resamples them");
}

TEST(Remedy, OfTokensSaysThatBytesAreCounted) {
  const auto recipe = recipe_with();
  const auto remedies = pipeline::remedies_of(
      {drop({.rule = Rule::kTextTooLong, .numbers = {431, 200}})}, recipe, 2, 1);
  const std::string text = describe(remedies[0], recipe);
  EXPECT_NE(text.find("--set text.max_tokens=431 keeps all"), std::string::npos) << text;
  EXPECT_NE(text.find("a letter of Persian, Arabic or Russian takes two"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace xtts::testing
