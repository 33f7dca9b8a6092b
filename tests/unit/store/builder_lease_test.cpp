#include "store/builder_lease.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "store/builder_lock.hpp"
#include "store/cache_folder.hpp"
#include "support/memory_env.hpp"

namespace xtts::testing {
namespace {

using store::BuilderLease;
using store::BuilderLock;
using store::CacheFolder;
using store::LeaseCallbacks;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kCache = "/cache";

// Two hosts on one network file system; their locks do not reach each other.
class BuilderLeases : public ::testing::Test {
 protected:
  void SetUp() override {
    here_.set_network();
    here_.add_folder(store::build_folder(kCache));
    here_.set_on_sleep([this] {
      ++sleep_count_;
      if (meanwhile_) meanwhile_();
    });
  }

  static Result<std::unique_ptr<BuilderLease>> take(MemoryEnv& env, const std::string& name,
                                                    const LeaseCallbacks& callbacks = {}) {
    return BuilderLease::take(env, kCache, name, "host " + name, callbacks);
  }

  [[nodiscard]] std::string lease_text() { return here_.contents(store::lease_path(kCache)); }
  [[nodiscard]] std::uint64_t epoch() {
    const auto lease = store::decode_lease(lease_text());
    return lease ? lease->epoch : 0;
  }

  // Leaves the lease of a builder that dies while it holds it.
  void leave_a_lease_of(MemoryEnv& env, const std::string& name) {
    std::string text;
    {
      const auto held = take(env, name);
      ASSERT_TRUE(held.ok()) << held.status().message();
      text = lease_text();
    }
    here_.add_file(store::lease_path(kCache), text);
  }

  MemoryEnv here_;
  std::unique_ptr<MemoryEnv> there_ = here_.other_host("there");
  int sleep_count_ = 0;
  std::function<void()> meanwhile_;  // after each sleep
};

TEST_F(BuilderLeases, AreGivenBackWithoutATrace) {
  {
    const auto held = take(here_, "here");
    ASSERT_TRUE(held.ok()) << held.status().message();
    EXPECT_TRUE((*held)->check().ok());
    EXPECT_THAT(lease_text(), HasSubstr("host here"));
  }
  EXPECT_TRUE(here_.all_files().empty());
  EXPECT_EQ(sleep_count_, 0) << "a lease that nobody has costs no wait";
}

TEST_F(BuilderLeases, OfALivingBuilderElsewhereIsBusyAsSoonAsItBeats) {
  const auto held = take(*there_, "there");
  ASSERT_TRUE(held.ok());
  meanwhile_ = [&] {
    if (sleep_count_ % 5 == 0) {
      EXPECT_TRUE((*held)->write_beat().ok());
    }
  };
  std::vector<std::string> told;
  const auto second =
      take(here_, "here", {.notice = [&](const std::string& text) { told.push_back(text); }});
  EXPECT_EQ(second.status().code(), StatusCode::kBusy);
  EXPECT_THAT(second.status().message(), HasSubstr("host there"));
  EXPECT_EQ(sleep_count_, 5);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_THAT(told[0], HasSubstr("host there may be building /cache: waiting 30 s"));
  EXPECT_TRUE((*held)->check().ok());
}

TEST_F(BuilderLeases, OfADeadBuilderElsewhereIsTakenAfterThirtySecondsOfSilence) {
  leave_a_lease_of(*there_, "there");
  const auto begin = here_.now();
  const auto held = take(here_, "here");
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_GE(here_.now() - begin, 30s);
  EXPECT_LE(here_.now() - begin, 35s);
  EXPECT_EQ(epoch(), 2U);
  EXPECT_TRUE((*held)->check().ok());
}

// Its lock was ours to take, so it is dead.
TEST_F(BuilderLeases, OfADeadBuilderThatOurLockReachesIsTakenAtOnce) {
  leave_a_lease_of(here_, "here");
  const auto held = take(here_, "here");
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_EQ(sleep_count_, 0);
  EXPECT_EQ(epoch(), 2U);
}

TEST_F(BuilderLeases, WithoutAnyLockEvenOurOwnDeadAreWaitedFor) {
  leave_a_lease_of(here_, "");
  EXPECT_TRUE(take(here_, "").ok());
  EXPECT_GE(sleep_count_, 30);
}

TEST_F(BuilderLeases, ThatAreNoLeasesAreWatchedLikeThem) {
  for (const char* text : {"{\"torn", ""}) {
    here_.add_file(store::lease_path(kCache), text);
    sleep_count_ = 0;
    EXPECT_TRUE(take(here_, "here").ok()) << text;
    EXPECT_GE(sleep_count_, 30) << text;
  }
}

// Nobody could have beaten while the file system was away.
TEST_F(BuilderLeases, AreNotTakenForAStall) {
  leave_a_lease_of(*there_, "there");
  meanwhile_ = [&] {
    if (sleep_count_ == 20) here_.advance_clock(5min);
  };
  EXPECT_TRUE(take(here_, "here").ok());
  EXPECT_GE(sleep_count_, 50);
}

TEST_F(BuilderLeases, AreWaitedForUntilSomebodyInterrupts) {
  leave_a_lease_of(*there_, "there");
  const std::string left = lease_text();
  const auto held = take(here_, "here", {.cancelled = [&] { return sleep_count_ == 3; }});
  EXPECT_EQ(held.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(lease_text(), left);
}

// Both have waited their time, and both rename: the last one wins, the other sees it.
TEST_F(BuilderLeases, OfTheDeadGoToOneOfTwoTakers) {
  leave_a_lease_of(*there_, "there");
  auto third = here_.other_host("third");
  std::unique_ptr<BuilderLease> of_third;
  meanwhile_ = [&] {
    if (of_third) {
      EXPECT_TRUE(of_third->write_beat().ok());
    } else if (epoch() == 2) {
      store::LeaseText text{.nonce = {}, .epoch = 2, .circle = "third", .holder = "host third"};
      here_.add_file(store::lease_path(kCache), store::encode_lease(text));
      of_third = std::make_unique<BuilderLease>(*third, kCache, text, store::LeaseTiming{});
    }
  };
  const auto second = take(here_, "here");
  EXPECT_EQ(second.status().code(), StatusCode::kBusy);
  EXPECT_THAT(second.status().message(), HasSubstr("host third"));
  EXPECT_TRUE(of_third && of_third->check().ok());
}

TEST_F(BuilderLeases, AreTakenWhereFilesCannotBeLinked) {
  here_.set_hook([](EnvOperation& operation) {
    return operation.call == EnvCall::kLink ? Status(StatusCode::kUnsupported, "no links")
                                            : Status();
  });
  const auto held = take(here_, "here");
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_TRUE((*held)->check().ok());
  EXPECT_THAT(here_.all_files(), SizeIs(1));
}

// A link whose answer gets lost is tried again by the client, and then fails because it is there.
TEST_F(BuilderLeases, AreOursThoughTheLinkSeemedToFail) {
  here_.set_hook([&](EnvOperation& operation) {
    if (operation.call != EnvCall::kLink) return Status();
    here_.add_file(operation.to, here_.contents(operation.path));
    return Status(StatusCode::kResource, "File exists");
  });
  const auto held = take(here_, "here");
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_TRUE((*held)->check().ok());
}

TEST_F(BuilderLeases, BeatByThemselves) {
  const auto held = BuilderLease::take(here_, kCache, "here", "host here", {}, {.beat_every = 1ms});
  ASSERT_TRUE(held.ok());
  const auto beats = [&] {
    const auto lease = store::decode_lease(lease_text());
    return lease ? lease->beat : 0;
  };
  for (int i = 0; i < 10'000 && beats() < 3; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_GE(beats(), 3U);
}

// The whole builder, which was suspended for a minute: nothing of it is seen any more.
TEST_F(BuilderLeases, ABuilderWhoseCacheWasTakenOverStops) {
  auto folder = CacheFolder::open(*there_, kCache);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  const auto file = (*folder)->begin_file("index");
  ASSERT_TRUE((*file)->sync().ok() && (*file)->close().ok());

  const auto second = CacheFolder::open(here_, kCache);
  ASSERT_TRUE(second.ok()) << second.status().message();
  here_.add_file("/cache/shards/mel/00000-0123456789abcdef0123456789abcdef.lmdb", "of the second");
  const auto files = here_.all_files();

  const Status committed = (*folder)->commit_file("index", "index-of-the-first");
  EXPECT_EQ(committed.code(), StatusCode::kBusy);
  EXPECT_THAT(committed.message(), HasSubstr("has taken over /cache"));
  EXPECT_EQ((*folder)->begin_file("index").status().code(), StatusCode::kBusy);
  EXPECT_EQ((*folder)->collect_garbage(nullptr, {}).code(), StatusCode::kBusy);
  EXPECT_EQ((*folder)->finish().code(), StatusCode::kBusy);
  folder->reset();
  EXPECT_EQ(here_.all_files(), files);
  EXPECT_TRUE((*second)->finish().ok());
}

TEST_F(BuilderLeases, StandInForLocksOnlyWhereTheFileSystemIsNotOurs) {
  const auto refuse_locks = [](EnvOperation& operation) {
    return operation.call == EnvCall::kLock ? Status(StatusCode::kUnsupported, "no locks")
                                            : Status();
  };
  here_.set_hook(refuse_locks);
  std::vector<std::string> told;
  const LeaseCallbacks callbacks{.notice = [&](const std::string& text) { told.push_back(text); }};
  EXPECT_TRUE(BuilderLock::take(here_, kCache, callbacks).ok());
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_THAT(told[0], HasSubstr("/cache is on a file system (NFS)"));

  MemoryEnv local;
  local.set_hook(refuse_locks);
  EXPECT_EQ(BuilderLock::take(local, kCache, callbacks).status().code(), StatusCode::kResource);
  EXPECT_THAT(told, SizeIs(1));
}

// It is gone with .build/ and all between two looks.
TEST_F(BuilderLeases, OfABuilderThatFinishesMeanwhileAreFree) {
  auto folder = CacheFolder::open(*there_, kCache);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  meanwhile_ = [&] {
    if (sleep_count_ == 3) {
      EXPECT_TRUE((*folder)->finish().ok());
    }
  };
  const auto second = CacheFolder::open(here_, kCache);
  EXPECT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ(sleep_count_, 3);
}

// A builder of another machine lets go of its lease, then removes the lock's file: ours, by now.
TEST_F(BuilderLeases, AreNotHeldWithALockOnAFileThatIsGone) {
  int link_count = 0;
  here_.set_hook([&](EnvOperation& operation) {
    if (operation.call != EnvCall::kLink) return Status();
    if (++link_count == 1) {
      EXPECT_TRUE(there_->remove_file(store::lock_path(kCache)).ok());
    }
    return Status();
  });
  const auto held = BuilderLock::take(here_, kCache);
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_EQ(link_count, 2);
  EXPECT_EQ(here_.lock(store::lock_path(kCache), LockKind::kExclusive).status().code(),
            StatusCode::kBusy);
}

// A server builds in the folder that it lends to others.
TEST(BuilderLease, OfAnotherMachineCountsOnALocalDiskToo) {
  MemoryEnv env;
  const store::LeaseText text{
      .nonce = {}, .epoch = 4, .circle = "a client", .holder = "host client"};
  env.add_file(store::lease_path(kCache), store::encode_lease(text));
  bool is_alive = true;
  std::uint64_t beat = 0;
  env.set_on_sleep([&] {
    store::LeaseText next = text;
    next.beat = ++beat;
    if (is_alive) env.add_file(store::lease_path(kCache), store::encode_lease(next));
  });
  EXPECT_EQ(BuilderLock::take(env, kCache).status().code(), StatusCode::kBusy);
  is_alive = false;
  const auto folder = CacheFolder::open(env, kCache);
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  EXPECT_TRUE((*folder)->finish().ok());
  EXPECT_TRUE(env.all_files().empty());
}

}  // namespace
}  // namespace xtts::testing
