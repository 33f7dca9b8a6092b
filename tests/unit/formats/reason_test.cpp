#include "formats/reason.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "tests/unit/formats/refusal.hpp"

namespace xtts::formats {
namespace {

TEST(Rules, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const RuleInfo& info : all_rules()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(name_of(info.rule), info.name);
  }
}

// Members of a reject's line: a rule's number of the same name would write over them.
TEST(Rules, NameTheirNumbersUnlikeTheMembersOfAReject) {
  const std::set<std::string_view> taken = {"class", "id",    "line",  "path",
                                            "rule",  "split", "stage", ""};
  for (const RuleInfo& info : all_rules()) {
    std::set<std::string_view> names = {info.text};
    for (const std::string_view number : info.numbers) {
      if (number.empty()) continue;
      EXPECT_TRUE(names.insert(number).second) << info.name;
    }
    for (const std::string_view name : names) EXPECT_FALSE(taken.contains(name)) << info.name;
  }
}

TEST(Reasons, AreAnArrayOfRulesWithTheirNumbersByName) {
  const std::vector<Reason> reasons = {
      {.rule = Rule::kClipped, .numbers = {0.25}},
      {.rule = Rule::kTooLong, .numbers = {1034, 800}},
      {.rule = Rule::kSameSound, .detail = "b"},
  };
  const std::string json = encode_reasons(reasons);
  EXPECT_EQ(json, R"([{"rule":"clipped","share":0.25},)"
                  R"({"frames":1034,"max_frames":800,"rule":"too_long"},)"
                  R"({"first_id":"b","rule":"same_sound"}])");
  EXPECT_EQ(decode_reasons(json).value(), reasons);
}

TEST(Reasons, OfAnotherVersionAreKeptAsTheyAre) {
  for (const std::string json : {R"([{"depth":3,"rule":"echo"}])", R"([{"reason":"in words"}])"}) {
    const auto reasons = decode_reasons(json);
    ASSERT_TRUE(reasons.ok());
    EXPECT_EQ(reasons->front().rule, Rule::kUnknown);
    EXPECT_EQ(encode_reasons(*reasons), json);
  }
}

TEST(Reasons, RefuseWhatIsNone) {
  expect_refused(decode_reasons("{}").status(), StatusCode::kCorrupt, "array");
  expect_refused(decode_reasons("[1]").status(), StatusCode::kCorrupt, "no object");
  expect_refused(decode_reasons(R"([{"rule":"clipped"}])").status(), StatusCode::kCorrupt, "share");
  expect_refused(decode_reasons(R"([{"rule":"clipped","share":"a"}])").status(),
                 StatusCode::kCorrupt, "share");
  expect_refused(decode_reasons(R"([{"rule":"same_sound","first_id":1}])").status(),
                 StatusCode::kCorrupt, "first_id");
}

TEST(Reasons, OfTheCorpusRulesAreJudgedAnewForStoredClips) {
  EXPECT_TRUE(judges_stored_clips(Rule::kClipped));
  EXPECT_TRUE(judges_stored_clips(Rule::kNoText));
  EXPECT_FALSE(judges_stored_clips(Rule::kEndsEarly));
  EXPECT_FALSE(judges_stored_clips(Rule::kTextTooLong));
  EXPECT_TRUE(may_be_a_warning(Rule::kEndsEarly));
  EXPECT_FALSE(may_be_a_warning(Rule::kTooLong));
  EXPECT_TRUE(precedes_sound(Rule::kTextTooLong));
  EXPECT_FALSE(precedes_sound(Rule::kTooLong));
}

}  // namespace
}  // namespace xtts::formats
