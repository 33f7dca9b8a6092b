#include "doctor/check.hpp"

#include <gtest/gtest.h>

#include "doctor/check_json.hpp"

namespace xtts::doctor {
namespace {

Finding finding(CheckStatus status, const std::string& text, std::optional<Gain> gain = {}) {
  return {.status = status, .text = text, .remedy = "mend " + text, .gain = std::move(gain)};
}

Check check_of(std::vector<Finding> findings) {
  return {.name = "storage",
          .title = "Storage",
          .status = worst_of(findings),
          .findings = std::move(findings)};
}

TEST(Check, NamesEachStatusAndFindsItByName) {
  for (const auto status :
       {CheckStatus::kPass, CheckStatus::kWarn, CheckStatus::kFail, CheckStatus::kCannotTell})
    EXPECT_EQ(status_named(name_of(status)), status);
  EXPECT_EQ(status_named("cannot tell"), std::nullopt);
}

TEST(Check, AWarningIsWorseThanAnUnansweredQuestion) {
  EXPECT_EQ(worst_of({}), CheckStatus::kPass);
  EXPECT_EQ(worst_of({finding(CheckStatus::kCannotTell, "a"), finding(CheckStatus::kWarn, "b")}),
            CheckStatus::kWarn);
  EXPECT_EQ(worst_of({finding(CheckStatus::kPass, "a"), finding(CheckStatus::kCannotTell, "b")}),
            CheckStatus::kCannotTell);
}

TEST(Check, RanksKnownGainsBeforeUnknownOnesAndLargerBeforeSmaller) {
  const Advice advice =
      advise({check_of({finding(CheckStatus::kFail, "unknown"),
                        finding(CheckStatus::kWarn, "small", Gain{.low = 1.0, .high = 1.2}),
                        finding(CheckStatus::kWarn, "large", Gain{.low = 2.0, .high = 4.0})})});
  ASSERT_EQ(advice.recommendations.size(), 3U);
  EXPECT_EQ(advice.recommendations[0].text, "large");
  EXPECT_EQ(advice.recommendations[1].text, "small");
  EXPECT_EQ(advice.recommendations[2].text, "unknown");
  EXPECT_EQ(advice.issues[0].text, "unknown");  // what fails comes first
}

TEST(Check, KeepsOneChangeForEachKey) {
  Finding first = finding(CheckStatus::kFail, "first", Gain{.low = 2.0, .high = 3.0});
  first.changes = {{.key = "data.num_workers", .before = "0", .after = "8", .reason = "a"}};
  Finding second = finding(CheckStatus::kFail, "second");
  second.changes = {{.key = "data.num_workers", .before = "0", .after = "2", .reason = "b"}};
  const Advice advice = advise({check_of({second, first})});
  ASSERT_EQ(advice.changes.size(), 1U);
  EXPECT_EQ(advice.changes[0].after, "8");
}

TEST(Check, JsonHasTheKeysOfTheContract) {
  Check check = check_of({finding(CheckStatus::kFail, "slow", Gain{.low = 1.5, .high = 2.0})});
  check.evidence = {
      {.what = "read", .value = "9 MB/s", .source = "dd", .number = 9e6, .unit = "bytes/s"}};
  const auto document = to_json(std::vector<Check>{check});
  const auto& one = document["checks"][0];
  EXPECT_EQ(one["name"], "storage");
  EXPECT_EQ(one["status"], "fail");
  EXPECT_EQ(one["evidence"][0]["number"], 9e6);
  EXPECT_EQ(one["remedy"], "mend slow");
  EXPECT_EQ(document["issues"][0]["text"], "slow");
  EXPECT_EQ(document["recommendations"][0]["gain"]["low"], 1.5);
  EXPECT_TRUE(document["config_changes"].is_array());
}

}  // namespace
}  // namespace xtts::doctor
