// Tests of a reader in a server: other threads stop, watch or cancel it, objects were moved from,
// options are impossible. None of this ends the process.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "in_child.hpp"
#include "made_cache.hpp"

namespace xtts {
namespace {

using std::chrono::milliseconds;

std::string text_with_zero(const std::string& text) {
  return text + std::string(1, '\0') + "more";
}

TEST(PublicReaderServer, InterruptEndsOneCallAndTheReaderStaysWhereItIs) {
  const MadeCache cache;
  const Cache opened = cache.open();
  for (const bool is_limited : {false, true}) {
    Reader reader = open_reader(opened, {.batch_size = 4, .shuffle = Shuffle::kNone});
    const auto next = [&] {
      return is_limited ? reader.next(milliseconds(60'000)) : reader.next();
    };
    ASSERT_TRUE(next().ok());
    std::thread([&] { reader.interrupt(); }).join();
    EXPECT_EQ(next().status().code(), StatusCode::kCancelled);
    const auto batch = next();
    ASSERT_TRUE(batch.ok() && *batch) << batch.status().message();
    EXPECT_EQ((*batch)->positions()[0], 4U);
    EXPECT_EQ(reader.state().samples_consumed, 8U);
  }
}

// Another thread interrupts all the time. Interrupted calls return at once, and no batch is lost.
TEST(PublicReaderServer, InterruptWakesAWaitingCall) {
  const MadeCache cache({.clip_count = 400});
  const Cache opened = cache.open();
  Reader reader = open_reader(opened, {.batch_size = 2});
  std::atomic<bool> is_over = false;
  std::thread interrupter([&] {
    while (!is_over) reader.interrupt();
  });
  std::uint64_t seen = 0;
  std::uint64_t interrupted = 0;
  // A busy machine may run the other thread late: then there are further epochs.
  for (std::uint64_t epoch = 0; seen < 200 || (interrupted == 0 && epoch < 1000);) {
    const auto batch = reader.next(milliseconds(60'000));
    if (!batch.ok()) {
      ASSERT_EQ(batch.status().code(), StatusCode::kCancelled);
      ++interrupted;
      if (interrupted > 50) is_over = true;
      continue;
    }
    if (!*batch) {
      reader.set_epoch(++epoch);
      continue;
    }
    expect_all_rows(**batch, cache);
    ++seen;
  }
  is_over = true;
  interrupter.join();
  EXPECT_GT(interrupted, 0U);
}

TEST(PublicReaderServer, TimeLimitThatIsOverLosesNothing) {
  const MadeCache cache;
  const Cache opened = cache.open();
  Reader reader = open_reader(opened, {.batch_size = 4, .last_batch = LastBatch::kPad});
  std::vector<std::uint64_t> seen;
  for (;;) {
    const auto batch = reader.next(milliseconds(0));
    if (!batch.ok()) {
      ASSERT_EQ(batch.status().code(), StatusCode::kCancelled) << batch.status().message();
      continue;
    }
    if (!*batch) break;
    expect_all_rows(**batch, cache);
    seen.insert(seen.end(), (*batch)->positions().begin(), (*batch)->positions().end());
  }
  std::ranges::sort(seen);
  EXPECT_EQ(seen, all_positions(cache));
  EXPECT_TRUE(reader.next(milliseconds::max()).ok());
  EXPECT_TRUE(reader.next(milliseconds::min()).ok());
}

// The thread sanitizer checks this test.
TEST(PublicReaderServer, StatsMayBeAskedForWhileBatchesAreTaken) {
  const MadeCache cache({.clip_count = 60});
  {
    // Damages a record, so that texts are added meanwhile.
    std::fstream file(cache.shard(0, 0), std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const auto& numbers = cache.made().clips[0].mel;
    const std::string wanted(reinterpret_cast<const char*>(numbers.data()),
                             numbers.size() * sizeof(float));
    file.clear();
    file.seekp(static_cast<std::streamoff>(bytes.find(wanted)));
    file.put(static_cast<char>(bytes[bytes.find(wanted)] ^ 1));
  }
  const Cache opened = cache.open();
  Reader reader = open_reader(opened, {.batch_size = 2, .on_damage = OnDamage::kSkip});
  std::atomic<bool> is_over = false;
  std::thread metrics([&] {
    std::uint64_t before = 0;
    while (!is_over) {
      const ReaderStats stats = reader.stats();
      EXPECT_GE(stats.batch_count, before);
      before = stats.batch_count;
    }
  });
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    reader.set_epoch(epoch);
    for (;;) {
      const auto batch = reader.next();
      ASSERT_TRUE(batch.ok());
      if (!*batch) break;
    }
  }
  is_over = true;
  metrics.join();
  EXPECT_EQ(reader.stats().batch_count, 600U);
  EXPECT_EQ(reader.stats().check_failures, 20U);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // both unwind in their own way
TEST(PublicReaderServer, ThreadThatIsCancelledInItsCallsEndsBehindThem) {
  EXPECT_EQ(in_child([] {
              const MadeCache cache;
              const Cache opened = cache.open();
              for (int i = 0; i < 20; ++i) {
                Reader reader = open_reader(opened, {.batch_size = 4});
                std::atomic<int> taken = 0;
                pthread_t thread{};
                struct Job {
                  Reader& reader;
                  std::atomic<int>& taken;
                } job{reader, taken};
                const auto run = [](void* context) -> void* {
                  auto& [own, count] = *static_cast<Job*>(context);
                  for (std::uint64_t epoch = 0;; ++epoch) {
                    own.set_epoch(epoch);
                    for (int k = 0; k < 10; ++k) (void)own.next();
                    ++count;
                    ::pthread_testcancel();
                  }
                };
                if (::pthread_create(&thread, nullptr, run, &job) != 0) return 1;
                while (taken < 3) std::this_thread::yield();
                if (::pthread_cancel(thread) != 0 || ::pthread_join(thread, nullptr) != 0) return 2;
                if (!reader.next().ok()) return 3;
              }
              return 0;
            }),
            0);
}
#endif

TEST(PublicReaderServer, WhatWasMovedFromIsEmptyAndSaysSo) {
  const MadeCache made;
  Cache cache = made.open();
  Reader reader = open_reader(cache, {.batch_size = 4});
  const Reader other_reader = std::move(reader);
  EXPECT_EQ(reader.next().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(reader.next(milliseconds(1)).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(reader.load_state(other_reader.state()).code(), StatusCode::kInvalidArgument);
  reader.set_epoch(3);
  reader.interrupt();
  EXPECT_EQ(reader.epoch() + reader.sample_count(), 0U);
  EXPECT_EQ(reader.samples_per_epoch() + reader.batches_per_epoch(), 0U);
  EXPECT_EQ(reader.stats().batch_count, 0U);
  EXPECT_EQ(reader.state().cache, "");

  const Cache other = std::move(cache);
  EXPECT_EQ(other.size(), 61U);
  for (const Status& status :
       {cache.id(0).status(), cache.clip(0).status(), cache.find("a").status(),
        cache.read("mel", 0).status(), cache.read("mel", "a").status(),
        cache.view("mel", 0).status(), cache.statistics("mel").status(),
        Reader::open(cache, {}).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("moved from"), std::string::npos) << status.message();
  }
  EXPECT_EQ(cache.size() + cache.generation(), 0U);
  EXPECT_TRUE(cache.path().empty() && cache.recipe_name().empty() && cache.paths().empty());
  EXPECT_TRUE(cache.columns().empty() && cache.speakers().empty() && cache.languages().empty());
  EXPECT_EQ(cache.digest() + cache.features_fingerprint() + cache.text_fingerprint(), "");
  cache = made.open();
  EXPECT_EQ(cache.size(), 61U);
}

TEST(PublicReaderServer, TextsThatNoFileCanHaveAreRefusedByName) {
  const MadeCache made;
  const Cache cache = made.open();
  const auto refusal = [](const Status& status) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
    EXPECT_LT(status.message().size(), 300U);
    return status.message();
  };
  EXPECT_EQ(refusal(Cache::open(text_with_zero(made.path())).status()),
            "the cache's path holds a zero byte, as its byte " +
                std::to_string(made.path().size()) + ": '" + made.path() + "'");
  EXPECT_NE(refusal(Cache::open("").status()).find("path is empty"), std::string::npos);
  EXPECT_NE(refusal(Cache::open(std::string(5000, 'x')).status()).find("has 5000 bytes"),
            std::string::npos);
  const auto open = [&](const ReaderOptions& options) {
    return refusal(Reader::open(cache, options).status());
  };
  EXPECT_NE(open({.split = text_with_zero("train")}).find("split"), std::string::npos);
  EXPECT_NE(open({.columns = {{.name = text_with_zero("mel")}}}).find("column"), std::string::npos);
  EXPECT_NE(open({.columns = {{.name = ""}}}).find("empty name"), std::string::npos);
  EXPECT_NE(open({.where = text_with_zero("seconds > 0")}).find("where"), std::string::npos);
  EXPECT_NE(open({.ids = {text_with_zero("a")}}).find("ids"), std::string::npos);
  EXPECT_NE(open({.device = text_with_zero("cpu")}).find("device"), std::string::npos);
}

TEST(PublicReaderServer, ValuesThatAnEnumDoesNotHaveAndIdleOptionsAreRefused) {
  const MadeCache made;
  const Cache cache = made.open();
  const auto code = [&](const ReaderOptions& options) {
    return Reader::open(cache, options).status().code();
  };
  EXPECT_EQ(code({.shuffle = static_cast<Shuffle>(3)}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.last_batch = static_cast<LastBatch>(9)}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.columns = {{.name = "mel", .dtype = static_cast<DType>(0)}}}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.columns = {{.name = "mel", .dtype = static_cast<DType>(200)}}}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.columns = {{.name = "mel", .normalize = static_cast<Normalize>(77)}}}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.weights = Weights{.by = static_cast<WeightBy>(8)}}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.on_damage = static_cast<OnDamage>(3)}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.reading = static_cast<Reading>(4)}), StatusCode::kInvalidArgument);
  const Reader idle = open_reader(cache, {.batch_size = 4, .stretch_samples = 4});
  EXPECT_NE(idle.stats().notice.find("stretch_samples"), std::string::npos);
  EXPECT_EQ(Reader::open(cache, {}, sizeof(ReaderOptions) + 8).status().code(),
            StatusCode::kUnsupported);
}

TEST(PublicReaderServer, LogTellsWhatAPersonShouldKnow) {
  const MadeCache made;
  ASSERT_EQ(::unlink(made.shard(0, 3).c_str()), 0);
  const Cache cache = made.open();
  std::vector<std::pair<LogLevel, std::string>> told;
  const auto log = [&](LogLevel level, const std::string& text) { told.emplace_back(level, text); };
  const auto has_told = [&](LogLevel level, const std::string& part) {
    return std::ranges::any_of(told, [&](const auto& line) {
      return line.first == level && line.second.find(part) != std::string::npos;
    });
  };
  Reader none = open_reader(cache, {.batch_size = 100, .log = log});
  EXPECT_TRUE(has_told(LogLevel::kNotice, "an epoch has no batch: 61 clips do not fill one"));
  EXPECT_NE(none.stats().notice.find("no batch"), std::string::npos);
  (void)open_reader(cache, {.split = "test", .log = log});
  EXPECT_TRUE(has_told(LogLevel::kNotice, "an epoch has no batch: no clip is chosen"));
  EXPECT_TRUE(has_told(LogLevel::kInfo, "reading: "));
  told.clear();
  Reader skips = open_reader(
      cache, {.batch_size = 4, .on_damage = OnDamage::kSkip, .max_damage = 1, .log = log});
  EXPECT_FALSE(has_told(LogLevel::kNotice, "no batch"));
  (void)positions_of_epoch(skips);
  EXPECT_TRUE(has_told(LogLevel::kWarning, made.made().shard_name(0, 3) + " is missing"));
  EXPECT_TRUE(has_told(LogLevel::kWarning, "epoch 0 has left out 4 of 61 clips"));

  int calls = 0;
  Reader throws = open_reader(cache, {.batch_size = 4,
                                      .on_damage = OnDamage::kSkip,
                                      .max_damage = 1,
                                      .log = [&](LogLevel, const std::string&) {
                                        ++calls;
                                        throw std::runtime_error("the user's");
                                      }});
  (void)positions_of_epoch(throws);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace xtts
