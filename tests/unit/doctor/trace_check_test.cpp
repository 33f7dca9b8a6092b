#include "doctor/trace_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/memory_env.hpp"

namespace xtts::doctor {
namespace {

using nlohmann::json;

const char* const kReport = R"({"version": 1, "step_ms": 200.0, "wait_ms": 120.0,
    "notes": ["Recording took 1 % of one processor's time."],
    "findings": [
      {"title": "soundfile.read: 9 ms and 80 % of a sample", "file": "data.py", "line": 17,
       "share": 0.48, "remedy": "A cache holds it.", "gain": [1.5, 2.4],
       "evidence": ["called 2 times in a sample"]},
      {"title": "copy.deepcopy: 1 ms", "file": "data.py", "line": 3, "share": 0.07,
       "remedy": "Copy less.", "gain": [1.0, 1.0], "evidence": []}]})";

json changed(const json::object_t& members) {
  json report = json::parse(kReport);
  for (const auto& [key, value] : members) report[key] = value;
  return report;
}

TEST(CheckTrace, NamesTheCallsWithTheirPlacesAndGains) {
  const Check check = check_trace(json::parse(kReport));
  EXPECT_EQ(check.name, "trace");
  EXPECT_EQ(check.status, CheckStatus::kFail);
  ASSERT_EQ(check.findings.size(), 2U);
  EXPECT_EQ(check.findings[0].place, "data.py:17");
  EXPECT_THAT(check.findings[0].text, ::testing::HasSubstr("called 2 times in a sample"));
  EXPECT_EQ(check.findings[0].remedy, "A cache holds it.");
  ASSERT_TRUE(check.findings[0].gain);
  EXPECT_EQ(check.findings[0].gain->high, 2.4);
  EXPECT_EQ(check.findings[1].status, CheckStatus::kWarn);
  EXPECT_FALSE(check.findings[1].gain);
}

TEST(CheckTrace, NothingFoundPassesOnlyWhereTheStepDoesNotWait) {
  const json none = json::array();
  EXPECT_EQ(check_trace(changed({{"findings", none}, {"wait_ms", 4.0}})).status,
            CheckStatus::kPass);
  EXPECT_EQ(check_trace(changed({{"findings", none}})).status, CheckStatus::kCannotTell);
  EXPECT_EQ(check_trace(changed({{"findings", none}, {"wait_ms", nullptr}})).status,
            CheckStatus::kCannotTell);
  const Check untraced =
      check_trace(changed({{"findings", none}, {"step_ms", nullptr}, {"wait_ms", nullptr}}));
  EXPECT_EQ(untraced.status, CheckStatus::kCannotTell);
  EXPECT_THAT(untraced.summary, ::testing::HasSubstr("Recording took"));
}

TEST(ProfileOfTrace, HasTheStepAndItsWait) {
  const ProfileFacts facts = profile_of(json::parse(kReport));
  EXPECT_NEAR(facts.step_ms->middle(), 80.0, 1e-9);
  EXPECT_NEAR(facts.real_step_ms->middle(), 200.0, 1e-9);
  EXPECT_NEAR(*facts.data_share, 0.6, 1e-9);
  EXPECT_FALSE(profile_of(changed({{"wait_ms", nullptr}})).data_share);
  EXPECT_FALSE(profile_of(changed({{"step_ms", nullptr}})).real_step_ms);
}

TEST(ReadTrace, RefusesOtherFiles) {
  testing::MemoryEnv env;
  EXPECT_EQ(read_trace(env, "none.json").status().code(), StatusCode::kNotFound);
  for (const char* const text :
       {"", "[]", "{}", R"({"findings": [3], "wait_ms": 1})", R"({"findings": []})"}) {
    env.add_file("trace.json", text);
    EXPECT_EQ(read_trace(env, "trace.json").status().code(), StatusCode::kInvalidArgument) << text;
  }
  env.add_file("trace.json", kReport);
  EXPECT_TRUE(read_trace(env, "trace.json").ok());
}

}  // namespace
}  // namespace xtts::doctor
