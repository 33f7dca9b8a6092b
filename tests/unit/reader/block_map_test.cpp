#include "reader/block_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/guarded_read.hpp"
#include "reader/cache_view.hpp"
#include "support/temp_folder.hpp"
#include "support/test_cache.hpp"

namespace xtts::reader {
namespace {

using ::testing::HasSubstr;

class BlockMapTest : public ::testing::Test {
 protected:
  BlockMapTest()
      : made_(testing::make_test_cache(
            {.clip_count = 16, .clips_per_block = 4, .blocks_per_shard = 2})) {
    for (const auto& [name, bytes] : made_.files) folder_.write(name, bytes);
    auto opened = CacheView::open(Env::real(), folder_.path());
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    view_ = *opened;
    guard_reads();
  }

  [[nodiscard]] BlockMap& blocks() { return view_->blocks(); }
  [[nodiscard]] RecordPlace mel_of(std::uint64_t position) {
    auto place = blocks().locate(0, position);
    EXPECT_TRUE(place.ok()) << place.status().message();
    return *place;
  }

  testing::TempFolder folder_;
  testing::TestCache made_;
  std::shared_ptr<CacheView> view_;
};

TEST_F(BlockMapTest, CopiesWhatTheClipWasMadeFrom) {
  for (std::uint64_t position = 0; position < 16; ++position) {
    const RecordPlace place = mel_of(position);
    EXPECT_TRUE(place.is_mapped());
    const auto& mel = made_.clips[position].mel;
    std::vector<float> out(mel.size());
    ASSERT_TRUE(
        blocks().copy(place, 0, std::as_writable_bytes(std::span(out)), Check::kRecord).ok());
    EXPECT_EQ(out, mel);
    EXPECT_TRUE(blocks().is_verified(place));
  }
}

TEST_F(BlockMapTest, SoundRecordOfAnotherClipIsRefusedAlsoAfterItWasReadAsItsOwn) {
  const RecordPlace own = mel_of(0);
  ASSERT_TRUE(blocks().verify(own).ok());
  RecordPlace wrong = own;  // as an index would have it that is wrong and sound in itself
  wrong.position = 1;
  EXPECT_FALSE(blocks().is_verified(wrong));
  const Status status = blocks().verify(wrong);
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(), HasSubstr("belongs to another clip"));
  EXPECT_THAT(status.message(), HasSubstr(made_.clips[1].id));
}

TEST_F(BlockMapTest, FindsArraysWithinABlockAndNoneAcross) {
  const auto inside = blocks().find_array(0, 4, 4);
  ASSERT_TRUE(inside.ok() && *inside);
  EXPECT_EQ((*inside)->bytes.data(), mel_of(4).region().data());
  EXPECT_EQ((*inside)->bytes.size(), 4 * view_->manifest().columns[0].spec.record_bytes());
  const auto across = blocks().find_array(0, 2, 4);  // a header lies between
  ASSERT_TRUE(across.ok());
  EXPECT_FALSE(*across);
  EXPECT_FALSE(blocks().find_array(0, 14, 4).ok());  // there are sixteen
}

TEST_F(BlockMapTest, PositionThatIsNotThereIsNotFound) {
  EXPECT_EQ(blocks().locate(0, 16).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace xtts::reader
