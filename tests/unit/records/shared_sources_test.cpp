#include "records/shared_sources.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "formats/rules.hpp"
#include "support/memory_env.hpp"

namespace xtts::records {
namespace {

constexpr std::uint64_t kFrames = 100;

// Sources whose sound is their number, over and over; counts how often each is decoded.
class Sources {
 public:
  explicit Sources(std::unordered_map<std::string, std::uint32_t> clip_counts,
                   std::uint64_t disk_bytes_max = SharedSources::kDiskBytesMax)
      : shared_(env_, "/cache/.build", std::move(clip_counts), disk_bytes_max) {
    env_.add_folder("/cache/.build");
  }

  // The third sample of the source, or -1.
  float ask(const std::string& path, const SourceFailure& failure = {}) {
    const auto shared = shared_.get(
        path, [&](const audio::TakeSamples& take) { return decode(path, take, failure); });
    if (const auto* const why = std::get_if<SourceFailure>(&shared)) {
      last_failure_ = *why;
      return -1.0F;
    }
    float sample = 0.0F;
    EXPECT_TRUE(std::get<0>(shared)->read(2, std::span(&sample, 1)).ok());
    return sample;
  }

  [[nodiscard]] std::size_t file_count() { return env_.scratch_count(); }
  [[nodiscard]] std::size_t name_count() { return env_.list("/cache/.build")->size(); }
  [[nodiscard]] int decode_count() const { return decode_count_; }
  [[nodiscard]] const SourceFailure& last_failure() const { return last_failure_; }

 private:
  SharedSources::Decoded decode(const std::string& path, const audio::TakeSamples& take,
                                const SourceFailure& failure) {
    ++decode_count_;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // others come and must wait
    const std::vector<float> samples(kFrames, std::stof(path));
    const auto half = std::span<const float>(samples).first(kFrames / 2);
    for (int i = 0; i < 2; ++i) {
      if (const Status status = take(half); !status.ok()) return SourceFailure{status};
    }
    if (!failure.status.ok()) return failure;
    SourceSound sound;
    sound.facts.frame_count = kFrames;
    return sound;
  }

  testing::MemoryEnv env_;
  SourceFailure last_failure_;  // of a test in one thread
  std::atomic<int> decode_count_ = 0;
  SharedSources shared_;
};

TEST(SharedSources, ASourceIsDecodedOnceHoweverOftenItIsAskedFor) {
  Sources sources({{"1", 3}, {"2", 2}});
  for (const char* path : {"1", "2", "1", "2", "1"}) EXPECT_EQ(sources.ask(path), std::stof(path));
  EXPECT_EQ(sources.decode_count(), 2);
}

TEST(SharedSources, ItsFileGoesWithTheLastClip) {
  Sources sources({{"1", 2}});
  sources.ask("1");
  EXPECT_EQ(sources.file_count(), 1U);
  EXPECT_EQ(sources.name_count(), 0U);
  sources.ask("1");
  EXPECT_EQ(sources.file_count(), 0U);
}

TEST(SharedSources, AFailureIsThatOfEveryClipAndLeavesNoFile) {
  Sources sources({{"1", 2}});
  const SourceFailure failure{{StatusCode::kBadInput, "broken"}, formats::Rule::kSourceEmpty};
  EXPECT_EQ(sources.ask("1", failure), -1.0F);
  EXPECT_EQ(sources.ask("1"), -1.0F);
  EXPECT_EQ(sources.last_failure().status.message(), "broken");
  EXPECT_EQ(sources.last_failure().rule, formats::Rule::kSourceEmpty);
  EXPECT_EQ(sources.decode_count(), 1);
  EXPECT_EQ(sources.file_count(), 0U);
}

TEST(SharedSources, BeyondTheLimitTheLongestUnaskedGoesAndIsDecodedAgain) {
  Sources sources({{"1", 9}, {"2", 9}, {"3", 9}}, 2 * kFrames * sizeof(float));
  sources.ask("1");
  sources.ask("2");
  sources.ask("1");
  sources.ask("3");  // 2 goes
  EXPECT_EQ(sources.file_count(), 2U);
  EXPECT_EQ(sources.ask("1"), 1.0F);
  EXPECT_EQ(sources.decode_count(), 3);
  EXPECT_EQ(sources.ask("2"), 2.0F);
  EXPECT_EQ(sources.decode_count(), 4);
}

TEST(SharedSources, OneSourceLargerThanTheLimitIsKeptWhileItIsWanted) {
  Sources sources({{"1", 3}}, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sources.ask("1"), 1.0F);
  EXPECT_EQ(sources.decode_count(), 1);
}

TEST(SharedSources, ThreadsThatWantTheSameSourceWaitForOneDecode) {
  constexpr std::uint32_t kThreads = 8;
  constexpr std::uint32_t kRounds = 50;
  std::unordered_map<std::string, std::uint32_t> counts;
  for (std::uint32_t i = 0; i < kRounds; ++i) counts[std::to_string(i)] = kThreads;
  Sources sources(counts);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (std::uint32_t i = 0; i < kRounds; ++i)
        EXPECT_EQ(sources.ask(std::to_string(i)), static_cast<float>(i));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sources.decode_count(), static_cast<int>(kRounds));
  EXPECT_EQ(sources.file_count(), 0U);
}

}  // namespace
}  // namespace xtts::records
