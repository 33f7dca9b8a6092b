// A worker's containment, and its end with its parent.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "worker_support.hpp"

namespace xtts::decode_worker::test {
namespace {

using namespace std::chrono_literals;

TEST(Containment, AWorkerMayNotOpenConnectForkOrExecute) {
  if (detail::kIsSanitized) GTEST_SKIP() << "sanitizers need calls of their own";
  const Outcome outcome =
      decode_with(*contained(), MemoryFile(decode::test::bytes_of("forbidden")));
  EXPECT_EQ(outcome.code, StatusCode::kOk) << outcome.message;
  std::vector<std::string> told;
  for (const audio::Warning& one : outcome.facts.warnings) told.push_back(one.text);
  EXPECT_EQ(told,
            (std::vector<std::string>{"open EPERM", "socket EPERM", "fork EPERM", "memfd EPERM",
                                      "kill EPERM", "truncate EPERM", "exec EPERM"}));
}

struct ProcessFacts {
  char state = ' ';
  pid_t parent = 0;
};

// Fields 3 and 4 of /proc/PID/stat.
std::optional<ProcessFacts> facts_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  ProcessFacts facts;
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  rest >> facts.state >> facts.parent;
  return facts;
}

std::optional<pid_t> child_of(pid_t parent) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t process = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), process);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
    const auto facts = facts_of(process);
    if (facts.has_value() && facts->parent == parent) return process;
  }
  return std::nullopt;
}

bool lives(pid_t process) {
  const auto facts = facts_of(process);
  return facts.has_value() && facts->state != 'Z' && facts->state != 'X';
}

template <typename Condition>
bool comes_true(const Condition& condition) {
  for (int turn = 0; turn < 500; ++turn) {
    if (condition()) return true;
    std::this_thread::sleep_for(20ms);
  }
  return false;
}

// A parent whose worker does what `word` says when the parent is killed.
void expect_worker_to_end(const char* word) {
  std::array<char*, 4> arguments{const_cast<char*>(XTTS_TEST_WORKER), const_cast<char*>("parent"),
                                 const_cast<char*>(word), nullptr};
  pid_t parent = 0;
  ASSERT_EQ(::posix_spawn(&parent, XTTS_TEST_WORKER, nullptr, nullptr, arguments.data(), environ),
            0);
  std::optional<pid_t> worker;
  EXPECT_TRUE(comes_true([&] { return (worker = child_of(parent)).has_value(); }));
  std::this_thread::sleep_for(300ms);  // the worker has begun, or is idle again
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  ASSERT_TRUE(worker.has_value());
  EXPECT_TRUE(comes_true([&] { return !lives(*worker); })) << word;
}

TEST(Containment, AnIdleWorkerEndsWithItsParent) {
  expect_worker_to_end("no sound");
}

TEST(Containment, ABusyWorkerEndsWithItsParent) {
  expect_worker_to_end("spin");
}

TEST(Containment, ASleepingWorkerEndsWithItsParent) {
  expect_worker_to_end("sleep");
}

// Ctrl-C reaches the whole group of processes: the clip in hand is finished all the same.
TEST(Containment, SignalsOfTheTerminalDoNotReachAWorker) {
  const auto decoder = contained();
  ASSERT_EQ(decode_with(*decoder, MemoryFile(tone(1000))).code, StatusCode::kOk);
  const auto worker = child_of(::getpid());
  ASSERT_TRUE(worker.has_value());
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::kill(*worker, signal);
  EXPECT_EQ(decode_with(*decoder, MemoryFile(tone(1000))).code, StatusCode::kOk);
  EXPECT_EQ(child_of(::getpid()), worker);
}

TEST(Containment, AWorkerKilledBetweenTwoClipsCostsNone) {
  const auto decoder = contained();
  ASSERT_EQ(decode_with(*decoder, MemoryFile(tone(1000))).code, StatusCode::kOk);
  const auto worker = child_of(::getpid());
  ASSERT_TRUE(worker.has_value());
  ::kill(*worker, SIGKILL);
  EXPECT_EQ(decode_with(*decoder, MemoryFile(tone(1000))).code, StatusCode::kOk);
  EXPECT_NE(child_of(::getpid()), worker);
}

}  // namespace
}  // namespace xtts::decode_worker::test
