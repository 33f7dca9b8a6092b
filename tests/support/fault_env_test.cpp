#include "support/fault_env.hpp"

#include <gtest/gtest.h>

#include "base/try.hpp"
#include "support/memory_env.hpp"

namespace xtts::testing {
namespace {

Status write_twice(Env& env, const std::string& path) {
  XTTS_ASSIGN(const auto file, env.open_for_write(path, WriteMode::kTruncate));
  XTTS_TRY(file->append(as_bytes("12345678")));
  XTTS_TRY(file->append(as_bytes("abcdefgh")));
  XTTS_TRY(file->sync());
  return file->close();
}

TEST(FaultEnv, FailsTheCallItIsToldToAndOnlyThat) {
  MemoryEnv memory;
  FaultEnv env(memory);
  env.set_fault(Fault{.at_call = 3, .torn_share = 0.5});
  EXPECT_EQ(write_twice(env, "/a").code(), StatusCode::kResource);
  EXPECT_EQ(memory.contents("/a"), "12345678abcd");
  EXPECT_EQ(env.failed_call(), "append /a");
  EXPECT_TRUE(write_twice(env, "/b").ok());
}

TEST(FaultEnv, IsDeadAfterACrash) {
  MemoryEnv memory;
  FaultEnv env(memory);
  env.set_fault(Fault{.at_call = 2, .aftermath = Aftermath::kIsACrash});
  EXPECT_FALSE(write_twice(env, "/a").ok());
  EXPECT_FALSE(write_twice(env, "/b").ok());
  EXPECT_FALSE(env.open_for_read("/a").ok());
  EXPECT_FALSE(memory.exists("/b"));
}

TEST(FaultEnv, TheDiskFillsUpInTheMiddleOfAWrite) {
  MemoryEnv memory;
  FaultEnv env(memory);
  env.set_room_bytes(10);
  EXPECT_EQ(write_twice(env, "/a").code(), StatusCode::kResource);
  EXPECT_EQ(memory.contents("/a"), "12345678ab");
}

TEST(FaultEnv, TellsWhoTrustsAFileAfterAFailedSync) {
  MemoryEnv memory;
  FaultEnv env(memory);
  env.set_fault(Fault{.at_call = 3});
  const auto file = env.open_for_write("/a", WriteMode::kTruncate);
  ASSERT_TRUE((*file)->append(as_bytes("1")).ok());
  EXPECT_FALSE((*file)->sync().ok());
  EXPECT_TRUE(env.misuse().empty());
  EXPECT_TRUE((*file)->sync().ok());
  EXPECT_TRUE(env.rename("/a", "/b").ok());
  EXPECT_EQ(env.misuse(), (std::vector<std::string>{"sync /a", "rename /a"}));
}

}  // namespace
}  // namespace xtts::testing
