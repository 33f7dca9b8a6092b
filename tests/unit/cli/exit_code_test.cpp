// The exit codes are an interface: scripts rely on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "cli/app.hpp"

namespace xtts::cli {
namespace {

int code_of(StatusCode code, int signal = 0) {
  return exit_code_of(Status(code, "x"), signal);
}

TEST(ExitCode, FollowsTheContract) {
  EXPECT_EQ(exit_code_of(Status(), 0), 0);
  EXPECT_EQ(code_of(StatusCode::kInternal), 1);
  EXPECT_EQ(code_of(StatusCode::kInvalidArgument), 2);
  EXPECT_EQ(code_of(StatusCode::kNotFound), 2);
  EXPECT_EQ(code_of(StatusCode::kMismatch), 2);
  EXPECT_EQ(code_of(StatusCode::kUnsupported), 2);
  EXPECT_EQ(code_of(StatusCode::kTooManyRejects), 3);
  EXPECT_EQ(code_of(StatusCode::kCorrupt), 4);
  EXPECT_EQ(code_of(StatusCode::kBusy), 5);
  EXPECT_EQ(code_of(StatusCode::kResource), 6);
  EXPECT_EQ(code_of(StatusCode::kCrashed), 6);
  EXPECT_EQ(code_of(StatusCode::kCancelled, SIGINT), 130);
  EXPECT_EQ(code_of(StatusCode::kCancelled, SIGTERM), 143);
}

TEST(ExitCode, WorkThatEndedWellIsZeroAfterASignalToo) {
  EXPECT_EQ(exit_code_of(Status(), SIGINT), 0);
}

TEST(JsonCode, NamesAreThoseOfTheSchema) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(StatusCode::kCrashed); ++code) {
    EXPECT_TRUE(names.insert(json_code_name(static_cast<StatusCode>(code))).second) << code;
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "ok", "invalid_argument", "not_found", "bad_input", "source_io", "corrupt",
                         "unsupported", "mismatch", "busy", "resource", "too_many_rejects",
                         "cancelled", "internal", "crashed"));
}

}  // namespace
}  // namespace xtts::cli
