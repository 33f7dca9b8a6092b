#include "doctor/configuration_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/check_json.hpp"

namespace xtts::doctor {
namespace {

using nlohmann::json;

TEST(ConfigurationCheck, IsWhatTheAdviserFound) {
  const Check sent{.name = "configuration",
                   .title = "Configuration",
                   .status = CheckStatus::kFail,
                   .summary = "config.yaml: 1 fault, 0 warnings",
                   .evidence = {{.what = "cache", .value = "none", .source = "--cache"}},
                   .findings = {{.status = CheckStatus::kFail,
                                 .text = "It starves.",
                                 .remedy = "Feed it.",
                                 .changes = {{"data.a", "1", "2", "It starves."}},
                                 .gain = Gain{1.5, 2.0, "documented"},
                                 .place = "config.yaml:3"}}};
  const json document = to_json(std::vector<Check>{sent});
  EXPECT_EQ(to_json(std::vector<Check>{check_configuration(document, "config.yaml")}), document);
}

TEST(ConfigurationCheck, CannotTellWithoutAnAnswer) {
  for (const Result<json>& answer :
       {Result<json>(Status(StatusCode::kUnsupported, "there is no Python")),
        Result<json>(json::object()), Result<json>(json{{"checks", json::array({1})}})}) {
    const Check check = check_configuration(answer, "config.yaml");
    EXPECT_EQ(check.status, CheckStatus::kCannotTell);
    EXPECT_THAT(check.summary, testing::StartsWith("config.yaml was not judged: "));
  }
}

}  // namespace
}  // namespace xtts::doctor
