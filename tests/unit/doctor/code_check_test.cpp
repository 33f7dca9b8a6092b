#include "doctor/code_check.hpp"

#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

using nlohmann::json;

TEST(CheckCode, AFindBecomesAFindingWithItsPlace) {
  const json scan = {{"format", 1},
                     {"files_read", 3},
                     {"not_read", {{{"file", "old.py"}, {"reason", "Python 2"}}}},
                     {"finds",
                      {{{"rule", "librosa_in_getitem"},
                        {"file", "data.py"},
                        {"line", 12},
                        {"status", "fail"},
                        {"text", "Features are computed in __getitem__."},
                        {"why", "Each batch waits for it."},
                        {"remedy", "Read them from a cache."}}}}};
  const Check check = check_code(scan, "trainer");
  EXPECT_EQ(check.status, CheckStatus::kFail);
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_EQ(check.findings[0].place, "data.py:12");
  EXPECT_EQ(check.findings[0].text,
            "Features are computed in __getitem__. Each batch waits for it. [librosa_in_getitem]");
  EXPECT_EQ(check.evidence.back().what, "not read: old.py");
}

TEST(CheckCode, CleanCodePassesAndNoCodeIsNoAnswer) {
  EXPECT_EQ(check_code(json{{"files_read", 3}}, "trainer").status, CheckStatus::kPass);
  EXPECT_EQ(check_code(json{{"files_read", 0}}, "trainer").status, CheckStatus::kCannotTell);
}

TEST(CheckCode, WithoutAPythonItCannotTell) {
  EXPECT_EQ(check_code(Status(StatusCode::kNotFound, "no Python"), "trainer").status,
            CheckStatus::kCannotTell);
}

// An older or newer scan must not end the doctor.
TEST(CheckCode, OddAnswersAreHarmless) {
  EXPECT_EQ(check_code(json::array(), "trainer").status, CheckStatus::kCannotTell);
  EXPECT_EQ(check_code(json{{"files_read", "three"}, {"finds", 7}}, "trainer").status,
            CheckStatus::kCannotTell);
}

}  // namespace
}  // namespace xtts::doctor
