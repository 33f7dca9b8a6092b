// Which rule dropped a clip, and what would keep how many: read from the rejects' own words.
#include "pipeline/drop_rules.hpp"

#include <gtest/gtest.h>

#include "build_support.hpp"
#include "pipeline/clip_rules.hpp"
#include "pipeline/too_long.hpp"
#include "text/tokenizer.hpp"

namespace xtts::testing {
namespace {

using formats::Reject;
using formats::RejectClass;
using pipeline::drop_rule_of;

Reject drop(const char* stage, std::string reason) {
  return {.kind = RejectClass::kPolicy,
          .id = "a",
          .path = "a.wav",
          .line = std::nullopt,
          .stage = stage,
          .reason = std::move(reason),
          .split = "train"};
}

Reject too_long(std::uint64_t frames) {
  return drop("features", pipeline::too_long_reason(frames, 800));
}

TEST(DropRule, IsTheSettingThatTheReasonNames) {
  EXPECT_EQ(drop_rule_of(too_long(1397)).key, "features.max_frames");
  EXPECT_EQ(drop_rule_of(too_long(1397)).keeps, 1397.0);
  formats::CorpusConfig rules;
  rules.max_clip_seconds = 5.0;
  const auto length = pipeline::refusal_of_length(9.3, rules);
  EXPECT_EQ(drop_rule_of(drop(length->stage, length->reason)).key, "corpus.max_clip_seconds");
  EXPECT_EQ(drop_rule_of(drop(length->stage, length->reason)).keeps, 10.0);
  EXPECT_EQ(pipeline::seconds_of_drop(drop(length->stage, length->reason), {}), 9.3);
  EXPECT_EQ(drop_rule_of(drop("duplicate", pipeline::refusal_of_duplicate("b").reason)).key,
            "corpus.duplicates");
  EXPECT_EQ(drop_rule_of(drop("text", pipeline::refusal_of_no_text().reason)).key,
            "corpus.no_text");
  EXPECT_EQ(drop_rule_of(drop("decode", pipeline::refusal_of_source({}).reason)).key,
            "corpus.max_source_seconds");
}

TEST(DropRule, OfATextIsReadFromTheTokenizersWords) {
  formats::TextConfig config = recipe_with({"text.max_tokens=4"}).text;
  auto tokenizer = text::Tokenizer::create(config);
  const auto refused = tokenizer->encode("abcdefg");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(drop_rule_of(drop("text", refused.status().message())).key, "text.max_tokens");
  EXPECT_EQ(drop_rule_of(drop("text", refused.status().message())).keeps, 7.0);
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

TEST(Remedy, OfTokensSaysThatBytesAreCounted) {
  const auto recipe = recipe_with();
  const auto remedies = pipeline::remedies_of(
      {drop("text", "431 tokens, at most 200: text.max_tokens=431 keeps it")}, recipe, 2, 1);
  const std::string text = describe(remedies[0], recipe);
  EXPECT_NE(text.find("--set text.max_tokens=431 keeps all"), std::string::npos) << text;
  EXPECT_NE(text.find("a letter of Persian, Arabic or Russian takes two"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace xtts::testing
