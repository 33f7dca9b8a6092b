#include "records/clip_sound.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "support/memory_env.hpp"

namespace xtts::records {
namespace {

const std::string kFolder = "/cache/.build";

class ClipSoundTest : public ::testing::Test {
 protected:
  ClipSoundTest() { env_.add_folder("/cache/.build"); }

  // 0, 1, 2, ... in pieces of `piece`.
  void fill(ClipSound& sound, std::size_t count, std::size_t piece) {
    std::vector<float> samples(count);
    std::iota(samples.begin(), samples.end(), 0.0F);
    sound.begin();
    for (std::span<const float> rest(samples); !rest.empty();) {
      const auto part = rest.first(std::min(piece, rest.size()));
      ASSERT_TRUE(sound.append(part).ok());
      rest = rest.subspan(part.size());
    }
    ASSERT_TRUE(sound.end().ok());
    ASSERT_EQ(sound.size(), count);
  }

  testing::MemoryEnv env_;
};

TEST_F(ClipSoundTest, ReadsTheSameFromMemoryAndFromAFile) {
  constexpr std::size_t kCount = 1'000'003;
  for (const std::size_t in_memory : {2'000'000UL, 1'000'003UL, 1'000'002UL, 4096UL, 7UL}) {
    ClipSound sound(env_, kFolder, in_memory);
    fill(sound, kCount, 10'007);
    EXPECT_EQ(env_.scratch_count(), in_memory < kCount ? 1U : 0U) << in_memory;
    EXPECT_TRUE(env_.all_files().empty());
    for (const std::uint64_t first : {0UL, 999'003UL, 500'000UL, 500'900UL, 400'000UL}) {
      const auto piece = sound.piece(first, 1000);
      ASSERT_TRUE(piece.ok());
      ASSERT_EQ(piece->size(), 1000U);
      EXPECT_EQ(piece->front(), static_cast<float>(first));
      EXPECT_EQ(piece->back(), static_cast<float>(first + 999));
    }
    const auto loaded = sound.load(12'345, 3);
    ASSERT_TRUE(loaded.ok());
    EXPECT_EQ(std::vector<float>(loaded->begin(), loaded->end()),
              (std::vector<float>{12'345, 12'346, 12'347}));
  }
  EXPECT_EQ(env_.scratch_count(), 0U);
}

TEST_F(ClipSoundTest, ForgetsTheClipBefore) {
  ClipSound sound(env_, kFolder, 100);
  fill(sound, 1000, 64);
  fill(sound, 10, 64);
  EXPECT_EQ(env_.scratch_count(), 0U);
  EXPECT_EQ(sound.piece(9, 1)->front(), 9.0F);
  fill(sound, 200, 64);
  EXPECT_EQ(sound.piece(199, 1)->front(), 199.0F);
}

TEST_F(ClipSoundTest, AFullDiskIsToldAndLeavesItUsable) {
  ClipSound sound(env_, kFolder, 100);
  env_.set_hook([](testing::EnvOperation& operation) {
    return operation.path == kFolder && operation.call == testing::EnvCall::kAppend
               ? Status(StatusCode::kResource, "no space")
               : Status();
  });
  sound.begin();
  EXPECT_EQ(sound.append(std::vector<float>(1000)).code(), StatusCode::kResource);
  env_.set_hook({});
  fill(sound, 1000, 64);
  EXPECT_EQ(sound.piece(999, 1)->front(), 999.0F);
}

}  // namespace
}  // namespace xtts::records
