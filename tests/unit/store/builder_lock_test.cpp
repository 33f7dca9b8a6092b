#include "store/builder_lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/memory_env.hpp"

namespace xtts::testing {
namespace {

constexpr const char* kCache = "/cache";

// The number of a process of this host that has ended.
std::string ended_process() {
  const pid_t process = ::fork();
  if (process == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(process, nullptr, 0), process);
  return std::to_string(process);
}

// The lock stays, its text says that another process holds it.
void rename_holder(MemoryEnv& env, const std::string& process) {
  const std::string path = store::lock_path(kCache);
  std::string text = env.contents(path);
  text = text.substr(0, text.rfind(' ') + 1) + process + "\n";
  const auto file = env.open_for_write(path, WriteMode::kTruncate);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->append(as_bytes(text)).ok());
  ASSERT_TRUE((*file)->close().ok());
}

// A builder that is killed while it starts a decoder leaves its lock to that one until the exec.
TEST(BuilderLock, WaitsForWhatAnEndedHolderHasLeft) {
  MemoryEnv env;
  auto held = store::BuilderLock::take(env, kCache);
  ASSERT_TRUE(held.ok());
  rename_holder(env, ended_process());
  int attempts = 0;
  env.set_hook([&](EnvOperation& operation) {
    if (operation.call == EnvCall::kLock && ++attempts == 3) *held = nullptr;
    return Status();
  });
  EXPECT_TRUE(store::BuilderLock::take(env, kCache).ok());
  EXPECT_EQ(attempts, 3);
}

TEST(BuilderLock, OfALivingHolderIsBusyAtOnce) {
  MemoryEnv env;
  const auto held = store::BuilderLock::take(env, kCache);
  ASSERT_TRUE(held.ok());
  int attempts = 0;
  env.set_hook([&](EnvOperation& operation) {
    attempts += operation.call == EnvCall::kLock ? 1 : 0;
    return Status();
  });
  EXPECT_EQ(store::BuilderLock::take(env, kCache).status().code(), StatusCode::kBusy);
  EXPECT_EQ(attempts, 1);
}

// Somebody clears a cache away in which a builder still works, and starts another build: one of
// the two must not publish, nor end the other's.
TEST(BuilderLock, OfARemovedFileIsNoLock) {
  MemoryEnv env;
  const auto held = store::BuilderLock::take(env, kCache);
  ASSERT_TRUE(held.ok());
  EXPECT_TRUE((*held)->check().ok());
  ASSERT_TRUE(env.remove_file(store::lock_path(kCache)).ok());
  const Status removed = (*held)->check();
  EXPECT_EQ(removed.code(), StatusCode::kResource);
  EXPECT_NE(removed.message().find("moved or removed"), std::string::npos) << removed.message();
  const auto other = store::BuilderLock::take(env, kCache);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_EQ((*held)->check().code(), StatusCode::kBusy);
  EXPECT_TRUE((*other)->check().ok());
}

}  // namespace
}  // namespace xtts::testing
