#include "formats/rules.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "base/env.hpp"
#include "tests/unit/formats/refusal.hpp"

namespace xtts::formats {
namespace {

// "| `too_long` | features | rejected | `frames`, `max_frames` | `features.max_frames` |"
std::string row_of(const RuleInfo& info) {
  std::string values;
  const auto add = [&](std::string_view value) {
    if (!value.empty()) values += (values.empty() ? "`" : ", `") + std::string(value) + "`";
  };
  for (const std::string_view number : info.numbers) add(number);
  if (info.text != "detail") add(info.text);
  const char* const effect = info.effect == Effect::kRejected ? "rejected"
                             : info.effect == Effect::kWarned ? "warned"
                                                              : "chosen";
  const std::string setting = info.setting.empty() ? "" : "`" + std::string(info.setting) + "`";
  return "| `" + std::string(info.name) + "` | " + std::string(to_string(info.stage)) + " | " +
         effect + " | " + values + " | " + setting + " |\n";
}

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

TEST(Reasons, RefuseNumbersThatMeasureNothing) {
  for (const char* const share : {"-1", "-1e300"}) {
    expect_refused(
        decode_reasons(std::string(R"([{"rule":"clipped","share":)") + share + "}]").status(),
        StatusCode::kCorrupt, "share");
  }
}

TEST(Reasons, OfAnotherVersionKeepTheirNameAndStage) {
  const auto reasons = decode_reasons(R"([{"rule":"echo","stage":"text"},{"reason":"in words"}])");
  ASSERT_TRUE(reasons.ok());
  EXPECT_EQ(name_of(reasons->front()), "echo");
  EXPECT_EQ(stage_of(reasons->front()), Stage::kText);
  EXPECT_EQ(name_of(reasons->back()), "unknown");
  EXPECT_EQ(stage_of(reasons->back()), Stage::kUnknown);
}

// Names, stages, effects and numbers are the format's (cache-v1.md, section 6.2).
TEST(Rules, AreThoseOfTheFormatNote) {
  std::string table;
  for (const RuleInfo& info : all_rules()) table += row_of(info);
  const auto note = read_text_file(Env::real(), XTTS_SOURCE_DIR "/formats/cache-v1.md", 1 << 20);
  ASSERT_TRUE(note.ok());
  EXPECT_NE(note->find(table), std::string::npos) << "the note's table of rules should be:\n"
                                                  << table;
}

}  // namespace
}  // namespace xtts::formats
