#include "doctor/frameworks_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json tensorflow(const json& measurement, const std::string& needs = "pass") {
  return {{"name", "tensorflow"},
          {"installed", "yes"},
          {"version", "2.21.0"},
          {"cuda",
           {{"built_for", "12.4"},
            {"source", "build_info.py"},
            {"needs", {{"status", needs}, {"text", "needs CUDA 12.4 or later"}}}}},
          {"measurements", json::array({measurement})}};
}

json graph_of(double low, double high) {
  return {{"name", "graph"},
          {"what", "tf.function against eager"},
          {"status", "measured"},
          {"speedup", {{"median", (low + high) / 2}, {"low", low}, {"high", high}}}};
}

json probe_of(const json& framework) {
  return {{"format", 1}, {"frameworks", json::array({framework})}};
}

TEST(CheckFrameworks, AFrameworkThatCompilesPasses) {
  const auto checks = check_frameworks(probe_of(tensorflow(graph_of(3, 5))), true);
  EXPECT_EQ(checks[0].status, CheckStatus::kPass);
  EXPECT_THAT(checks[0].summary, HasSubstr("3.0 to 5.0 times as fast"));
  EXPECT_EQ(checks[1].status, CheckStatus::kPass);
}

TEST(CheckFrameworks, ACompilerThatFailsIsTheFinding) {
  const json broken = {{"name", "compile"},
                       {"what", "torch.compile against eager"},
                       {"status", "failed"},
                       {"reason", "no C++ compiler"}};
  const auto checks = check_frameworks(probe_of(tensorflow(broken)), true);
  EXPECT_EQ(checks[0].status, CheckStatus::kFail);
  EXPECT_THAT(checks[0].summary, HasSubstr("no C++ compiler"));
  EXPECT_EQ(check_frameworks(probe_of(tensorflow(broken)), false)[0].status, CheckStatus::kWarn);
}

TEST(CheckFrameworks, AMeasurementThatTellsNothingIsNoFailure) {
  const json noisy = {{"name", "xla"},
                      {"what", "tf.function(jit_compile=True) against tf.function"},
                      {"status", "cannot_tell"},
                      {"reason", "its rounds differ too much"}};
  const auto checks = check_frameworks(probe_of(tensorflow(noisy)), true);
  EXPECT_EQ(checks[0].status, CheckStatus::kCannotTell);
  EXPECT_THAT(checks[0].summary, HasSubstr("its rounds differ too much."));
  EXPECT_TRUE(checks[0].findings.front().remedy.empty());
}

TEST(CheckFrameworks, ABuildThatTheDriverCannotRunFails) {
  const auto checks = check_frameworks(probe_of(tensorflow(graph_of(3, 5), "fail")), true);
  EXPECT_EQ(checks[1].status, CheckStatus::kFail);
}

TEST(CheckFrameworks, WithoutAGpuCudaIsNoQuestion) {
  const auto checks = check_frameworks(probe_of(tensorflow(graph_of(3, 5), "fail")), false);
  EXPECT_EQ(checks[1].status, CheckStatus::kCannotTell);
}

TEST(CheckFrameworks, ASlowImportIsNoFault) {
  const auto checks = check_frameworks(
      probe_of({{"name", "torch"}, {"installed", "unclear"}, {"reason", "still busy"}}), true);
  EXPECT_EQ(checks[0].status, CheckStatus::kCannotTell);
  EXPECT_THAT(checks[0].summary, HasSubstr("torch cannot be judged: still busy."));
  EXPECT_THAT(checks[0].findings.front().remedy, HasSubstr("Ask again"));
}

TEST(CheckFrameworks, ABrokenInstallationFails) {
  const auto checks = check_frameworks(
      probe_of({{"name", "torch"}, {"installed", "broken"}, {"reason", "ImportError"}}), false);
  EXPECT_EQ(checks[0].status, CheckStatus::kFail);
}

TEST(CheckFrameworks, CannotTellWithoutAFramework) {
  const json none = {{"name", "torch"}, {"installed", "no"}};
  EXPECT_EQ(check_frameworks(probe_of(none), true)[0].status, CheckStatus::kCannotTell);
  EXPECT_EQ(check_frameworks(json::array(), true)[0].status, CheckStatus::kCannotTell);
  EXPECT_EQ(check_frameworks(Status(StatusCode::kNotFound, "no Python"), true)[0].status,
            CheckStatus::kCannotTell);
}

}  // namespace
}  // namespace xtts::doctor
