#include "formats/canonical_json.hpp"

#include <cmath>

#include "formats/feature_config.hpp"
#include "tests/unit/formats/refusal.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

constexpr auto kCorrupt = StatusCode::kCorrupt;

TEST(CanonicalJson, SortsKeysByBytesWithoutWhiteSpace) {
  const json value = {
      {"b", 1}, {"a", {true, nullptr, "x"}}, {"B", json::object()}, {"é", json::array()}};
  EXPECT_EQ(dump_canonical(value), R"({"B":{},"a":[true,null,"x"],"b":1,"é":[]})");
}

TEST(CanonicalJson, WritesFloatsInTheFewestDigitsThatReadBackTheSame) {
  EXPECT_EQ(dump_canonical(0.1), "0.1");
  EXPECT_EQ(dump_canonical(1e-5), "1e-05");
  EXPECT_EQ(dump_canonical(5e-324), "5e-324");
  EXPECT_EQ(dump_canonical(0.1F), "0.10000000149011612");
  EXPECT_EQ(dump_canonical(9007199254740993.0), "9007199254740992.0");
}

TEST(CanonicalJson, AWholeFloatStaysAFloat) {
  EXPECT_EQ(dump_canonical(20.0), "20.0");
  EXPECT_EQ(dump_canonical(-0.0), "-0.0");
  EXPECT_EQ(dump_canonical(1e22), "1e+22");
  EXPECT_TRUE(parse_json(dump_canonical(20.0))->is_number_float());
}

TEST(CanonicalJson, WritesWholeNumbersOfAnySize) {
  EXPECT_EQ(dump_canonical(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(dump_canonical(INT64_MIN), "-9223372036854775808");
}

TEST(CanonicalJson, EscapesOnlyWhatMustBe) {
  EXPECT_EQ(dump_canonical("a\"b\\c\n\x01/é"), R"("a\"b\\c\n\u0001/é")");
}

TEST(CanonicalJson, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(dump_canonical(std::string("a\xFF"
                                       "b")),
            "\"a\xEF\xBF\xBD"
            "b\"");
}

TEST(ParseJson, SaysWhereItStopped) {
  expect_refused(parse_json("{\"a\":1,}").status(), kCorrupt, "column 8");
  expect_refused(parse_json("").status(), kCorrupt, "parse error");
  expect_refused(parse_json("{} {}").status(), kCorrupt, "parse error");
  expect_refused(parse_json("\"\xFF\"").status(), kCorrupt, "UTF-8");
}

TEST(ParseJson, RefusesANumberThatNoDoubleHolds) {
  expect_refused(parse_json("[1e999]").status(), kCorrupt, "overflow");
}

TEST(ParseJson, RefusesNestingDeeperThan64) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(64)).ok());
  expect_refused(parse_json(nested(65)).status(), kCorrupt, "deeper than 64");
  expect_refused(parse_json(nested(10'000'000)).status(), kCorrupt, "deeper than 64");
}

TEST(ParseJson, BracketsInTextAreNotNesting) {
  const std::string text = "[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"]";
  EXPECT_TRUE(parse_json(text).ok());
}

TEST(ParseJson, RefusesMoreValuesThanAnyDocumentOfOursHas) {
  std::string text = "[0";
  for (int i = 0; i < (8 << 20); ++i) text += ",0";
  expect_refused(parse_json(text + "]").status(), kCorrupt, "values");
}

TEST(Differences, OneLineALeaf) {
  const json in_cache = {{"mel", {{"n_mels", 80}, {"scale", "slaney"}}}, {"pad", 0.0}};
  const json asked = {{"mel", {{"n_mels", 100}, {"scale", "htk"}}}, {"pad", 0.0}};
  EXPECT_THAT(
      describe_differences(in_cache, asked, "features"),
      testing::ElementsAre("features.mel.n_mels: 80 in the cache, 100 asked for",
                           "features.mel.scale: \"slaney\" in the cache, \"htk\" asked for"));
}

TEST(Differences, NoneWhereSectionsAreEqual) {
  const json section = to_json(FeatureConfig());
  EXPECT_TRUE(describe_differences(section, section, "features").empty());
}

TEST(Differences, TellWhatOnlyOneSideHas) {
  EXPECT_THAT(describe_differences({{"a", 1}}, {{"b", 2}}, "s"),
              testing::ElementsAre("s.a: 1 in the cache, absent in what is asked for",
                                   "s.b: absent in the cache, 2 asked for"));
}

TEST(Differences, CutALongTextBetweenCharacters) {
  std::string vocabulary;
  for (int i = 0; i < 100; ++i) vocabulary += "é";
  const auto lines = describe_differences({{"v", vocabulary}}, {{"v", "a"}}, "text");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_LT(lines[0].size(), 200U);
  EXPECT_THAT(lines[0], testing::HasSubstr("é… (202 bytes) in the cache"));
}

}  // namespace
}  // namespace xtts::formats
