#include "doctor/profile_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/memory_env.hpp"

namespace xtts::doctor {
namespace {

Result<ProfileFacts> facts_of(const std::string& text) {
  testing::MemoryEnv env;
  const auto file = env.open_for_write("profile.json", WriteMode::kTruncate);
  EXPECT_TRUE((*file)->append(as_bytes(std::string_view(text))).ok());
  return read_profile(env, "profile.json");
}

TEST(ReadProfile, TakesTheStepWithDataForFree) {
  const auto facts = facts_of(R"({"step": {"ms": {"mean": 184}}, "batch_size": 8,
      "data": {"share": 0.54},
      "synthetic": {"steps": 100, "step": {"ms": {"mean": 44, "std": 5}}, "data_share": 0.76},
      "gpu": {"utilization": {"mean": 18, "std": 14}}})");
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_NEAR(facts->step_ms->low, 43.0, 1e-9);
  EXPECT_NEAR(facts->step_ms->high, 45.0, 1e-9);
  EXPECT_EQ(facts->data_share, 0.76);
  EXPECT_EQ(facts->real_step_ms->high, 184.0);
  EXPECT_EQ(facts->batch_size, 8U);
  EXPECT_EQ(facts->gpu_utilization, 18.0);
}

TEST(ReadProfile, WithoutSuchStepsWhatIsNotWaitingIsTheStep) {
  const auto facts = facts_of(R"({"step": {"ms": {"mean": 100}}, "data": {"share": 0.5},
      "synthetic": null, "batch_size": null})");
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->step_ms->high, 50.0);
  EXPECT_EQ(facts->batch_size, std::nullopt);
}

// `profile CACHE` says how long a step is, but nothing of the user's own loading.
TEST(ReadProfile, OfACacheTakesTheStepAlone) {
  const auto facts = facts_of(R"({"cache": "./cache", "step": {"ms": {"mean": 100}},
      "data": {"share": 0.01}, "synthetic": null})");
  ASSERT_TRUE(facts.ok());
  EXPECT_NEAR(facts->step_ms->high, 99.0, 1e-9);
  EXPECT_EQ(facts->real_step_ms, std::nullopt);
  EXPECT_EQ(facts->data_share, std::nullopt);
}

TEST(ReadProfile, RefusesOtherFiles) {
  for (const char* const text : {"", "[]", "{}", "not JSON", R"({"step": {"ms": {"mean": "a"}}})"})
    EXPECT_EQ(facts_of(text).status().code(), StatusCode::kInvalidArgument) << text;
}

}  // namespace
}  // namespace xtts::doctor
