#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_folder.hpp"
#include "support/test_cache.hpp"
#include "xtts/reader.hpp"

namespace xtts {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::make_test_cache;
using testing::TempFolder;
using testing::TestCache;

class PublicCache : public ::testing::Test {
 protected:
  PublicCache() {
    for (const auto& [name, bytes] : made_.files) folder_.write(name, bytes);
  }

  TestCache made_ = make_test_cache();
  TempFolder folder_;
};

TEST_F(PublicCache, ReadsARecordByIdAndByPosition) {
  const auto cache = Cache::open(folder_.path());
  ASSERT_TRUE(cache.ok()) << cache.status().message();
  EXPECT_EQ(cache->size(), 7);
  const auto by_id = cache->read("mel", "clip-103");
  const auto by_position = cache->read("mel", 3);
  ASSERT_TRUE(by_id.ok() && by_position.ok());
  EXPECT_THAT(*by_id->as_floats(), ElementsAreArray(made_.clips[3].mel));
  EXPECT_THAT(*by_position->as_floats(), ElementsAreArray(made_.clips[3].mel));
  EXPECT_THAT(by_id->shape(), ElementsAre(made_.clips[3].mel.size() / 5, 5));
  EXPECT_THAT(*cache->read("tokens", 3)->as_int32s(), ElementsAreArray(made_.clips[3].tokens));
  EXPECT_EQ(by_id->padding(), -11.5);
  EXPECT_EQ(cache->read("tokens", 3)->padding(), 0);
}

TEST_F(PublicCache, TellsWhatItHolds) {
  const auto cache = Cache::open(folder_.path());
  ASSERT_TRUE(cache.ok());
  EXPECT_EQ(cache->path(), folder_.path());
  EXPECT_EQ(cache->recipe_name(), "myxtts");
  EXPECT_EQ(cache->generation(), 1);
  EXPECT_EQ(cache->features_fingerprint(), made_.manifest.features_fingerprint.to_hex());
  EXPECT_EQ(cache->text_fingerprint(), made_.manifest.text_fingerprint.to_hex());
  EXPECT_EQ(*cache->id(6), "clip-106");
  EXPECT_EQ(*cache->find("clip-106"), std::optional<std::uint64_t>(6));
  const auto columns = cache->columns();
  ASSERT_EQ(columns.size(), 2);
  EXPECT_EQ(columns[0].name, "mel");
  EXPECT_THAT(columns[0].shape, ElementsAre(24, 5));
  EXPECT_EQ(columns[1].dtype, DType::kInt32);
}

TEST_F(PublicCache, TellsWhatItKnowsOfAClip) {
  const auto cache = Cache::open(folder_.path());
  const auto clip = cache->clip(3);
  ASSERT_TRUE(clip.ok());
  EXPECT_EQ(clip->id, "clip-103");
  EXPECT_EQ(clip->split, "train");
  EXPECT_EQ(clip->speaker, "Linda");
  EXPECT_EQ(clip->text, "Printing, in the only sense.");
  EXPECT_EQ(clip->text_normalized, "");
  EXPECT_EQ(clip->frame_count, made_.clips[3].mel.size() / 5);
  EXPECT_EQ(clip->token_count, made_.clips[3].tokens.size());
  EXPECT_DOUBLE_EQ(clip->duration_s, clip->frame_count * 256 / 22050.0);
  EXPECT_EQ(cache->clip(7).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(cache->speakers(), ElementsAre("Linda"));
  EXPECT_EQ(cache->digest(), made_.manifest.index_digest.to_hex());
}

TEST_F(PublicCache, ShowsARecordWhereItLies) {
  std::optional<Record> view;
  {
    const auto cache = Cache::open(folder_.path());
    auto opened = cache->view("mel", 3);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    const auto again = cache->view("mel", 3);
    EXPECT_TRUE(opened->is_view());
    EXPECT_EQ(opened->padding(), -11.5);
    EXPECT_EQ(opened->bytes().data(), again->bytes().data());
    EXPECT_FALSE(cache->read("mel", 3)->is_view());
    // The first record of a block; the others follow as the shape has it.
    const auto first = cache->view("mel", 2);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first->bytes().data()) % 256, 0U);
    EXPECT_EQ(cache->view("pitch", 3).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(cache->view("mel", 7).status().code(), StatusCode::kNotFound);
    view = std::move(*opened);
  }
  EXPECT_THAT(*view->as_floats(), ElementsAreArray(made_.clips[3].mel));
  EXPECT_THAT(view->shape(), ElementsAre(made_.clips[3].mel.size() / 5, 5));
}

TEST_F(PublicCache, ShowsNoDamagedRecord) {
  const std::string shard = made_.shard_name(0, 0);
  std::string& bytes = made_.files[shard];
  const std::string number(reinterpret_cast<const char*>(made_.clips[0].mel.data()), 16);
  const std::size_t place = bytes.find(number);
  ASSERT_NE(place, std::string::npos);
  bytes[place + 5] ^= 1;
  folder_.write(shard, bytes);
  const auto cache = Cache::open(folder_.path());
  const auto view = cache->view("mel", 0);
  ASSERT_EQ(view.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(view.status().message(), ::testing::HasSubstr("clip-100"));
  EXPECT_TRUE(cache->view("mel", 1).ok());
}

TEST_F(PublicCache, LetsARecordOutliveTheCache) {
  std::optional<Record> record;
  {
    auto cache = Cache::open(folder_.path());
    ASSERT_TRUE(cache.ok());
    record = *cache->read("mel", 5);
  }
  const Record copy = *record;
  record.reset();
  EXPECT_THAT(*copy.as_floats(), ElementsAreArray(made_.clips[5].mel));
}

TEST_F(PublicCache, CanBeMoved) {
  auto opened = Cache::open(folder_.path());
  ASSERT_TRUE(opened.ok());
  Cache first = std::move(*opened);
  Cache second = std::move(first);
  first = std::move(second);
  EXPECT_EQ(first.size(), 7);
}

TEST_F(PublicCache, SaysWhatIsWrong) {
  EXPECT_EQ(Cache::open(folder_.path() + "/none").status().code(), StatusCode::kNotFound);
  const auto cache = Cache::open(folder_.path());
  ASSERT_TRUE(cache.ok());
  EXPECT_EQ(cache->read("mel", "nobody").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(cache->read("energy", 0).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(cache->read("mel", 0)->as_int32s().status().code(), StatusCode::kMismatch);
  EXPECT_EQ(to_string(StatusCode::kMismatch),
            to_string(cache->read("tokens", 0)->as_floats().status().code()));
}

}  // namespace
}  // namespace xtts
