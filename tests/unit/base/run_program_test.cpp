#include "base/run_program.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <csignal>

#include "base/system_call.hpp"

namespace xtts {
namespace {

using namespace std::chrono_literals;

TEST(RunProgram, CarriesInputAndBothOutputs) {
  const std::string input(3'000'000, 'x');  // more than any pipe holds
  const auto result =
      run_program({.arguments = {"sh", "-c", "cat; echo said >&2; exit 3"}, .input = input});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, ProgramEnd::kExited);
  EXPECT_EQ(result->code, 3);
  EXPECT_EQ(result->output, input);
  EXPECT_EQ(result->errors, "said\n");
}

TEST(RunProgram, EndsAProgramAndItsChildrenWhenTheirTimeIsOver) {
  const auto begin = std::chrono::steady_clock::now();
  // The child of the shell would print after a second.
  const auto result = run_program(
      {.arguments = {"sh", "-c", "(sleep 60; echo late) & echo begun; wait"}, .time_limit = 200ms});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, ProgramEnd::kTimedOut);
  EXPECT_EQ(result->output, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST(StartProgram, TalksUntilItIsEnded) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  const auto process = start_program({"cat"}, {theirs.get(), theirs.get(), theirs.get()});
  ASSERT_TRUE(process.ok()) << process.status().message();
  std::array<char, 6> said{};
  ASSERT_EQ(::send(ours.get(), "hello", 5, 0), 5);
  ASSERT_EQ(::recv(ours.get(), said.data(), 5, MSG_WAITALL), 5);
  EXPECT_STREQ(said.data(), "hello");
  const auto end = end_program(*process);
  ASSERT_TRUE(end);
  EXPECT_TRUE(WIFSIGNALED(*end));
  EXPECT_EQ(start_program({"/no/such/program"}, {0, 1, 2}).status().code(), StatusCode::kNotFound);
}

TEST(LastLine, IsTheLastThatIsNotEmpty) {
  EXPECT_EQ(last_line("one\ntwo\r\n\n"), "two");
  EXPECT_EQ(last_line("one"), "one");
  EXPECT_EQ(last_line("\n"), "");
}

TEST(BecomeProgram, ReplacesTheProcessAndTellsWhatIsMissing) {
  EXPECT_EXIT(
      {
        std::signal(SIGPIPE, SIG_IGN);
        (void)become_program({"sh", "-c", "kill -PIPE $$; exit 3"});
      },
      ::testing::KilledBySignal(SIGPIPE), "");
  EXPECT_EQ(become_program({"/no/such/program"}).code(), StatusCode::kNotFound);
}

TEST(RunProgram, TellsASignalFromAnExitCode) {
  const auto result = run_program({.arguments = {"sh", "-c", "kill -SEGV $$"}});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, ProgramEnd::kSignalled);
  EXPECT_EQ(result->code, SIGSEGV);
}

TEST(RunProgram, SaysThatThereIsNoSuchProgram) {
  EXPECT_EQ(run_program({.arguments = {"/no/such/program"}}).status().code(),
            StatusCode::kNotFound);
}

TEST(RunProgram, StopsWhenItIsCancelled) {
  const auto result = run_program({.arguments = {"sleep", "60"}, .cancelled = [] { return true; }});
  EXPECT_EQ(result.status().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace xtts
