// The words of read_record about damage: the clip that is hit fails with file, offset and name; the
// others read well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/index.hpp"
#include "reader/cache_view.hpp"
#include "support/test_cache.hpp"

namespace xtts::reader {
namespace {

using ::testing::AllOf;
using testing::EnvCall;
using testing::EnvOperation;
using ::testing::HasSubstr;
using testing::make_test_cache;
using testing::MemoryEnv;
using testing::TestCache;

constexpr std::uint64_t kFirstHeader = 2 * formats::kPageBytes + formats::kLmdbPageHeaderBytes;
constexpr std::uint64_t kFirstPayload = 3 * formats::kPageBytes;
constexpr std::uint64_t kRecordBytes = 24 * 5 * 4;

void flip(std::string& bytes, std::size_t offset) {
  bytes[offset] = static_cast<char>(bytes[offset] ^ 1);
}

Result<RecordData> read(MemoryEnv& env, const TestCache& cache, std::uint64_t position) {
  cache.add_to(env, "/cache");
  auto view = CacheView::open(env, "/cache");
  if (!view.ok()) return view.status();
  return (*view)->read_record("mel", position);
}

TEST(RecordDamage, IsToldWithClipFileAndOffset) {
  MemoryEnv env;
  TestCache cache = make_test_cache();
  flip(cache.files[cache.shard_name(0, 0)], kFirstPayload + kRecordBytes);
  const Status status = read(env, cache, 1).status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("clip-101"), HasSubstr(cache.shard_name(0, 0)),
                    HasSubstr("byte " + std::to_string(kFirstPayload + kRecordBytes))));
  EXPECT_TRUE(read(env, cache, 0).ok());
  EXPECT_TRUE(read(env, cache, 2).ok());
}

TEST(RecordDamage, InThePaddingCountsToo) {
  MemoryEnv env;
  TestCache cache = make_test_cache();
  flip(cache.files[cache.shard_name(0, 0)],
       kFirstPayload + kRecordBytes - 1);  // clip 0 has one frame
  EXPECT_EQ(read(env, cache, 0).status().code(), StatusCode::kCorrupt);
}

TEST(RecordDamage, InAHeaderHitsItsBlockOnly) {
  MemoryEnv env;
  TestCache cache = make_test_cache();
  flip(cache.files[cache.shard_name(0, 0)], kFirstHeader + 700);
  EXPECT_EQ(read(env, cache, 0).status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(read(env, cache, 1).status().code(), StatusCode::kCorrupt);
  EXPECT_TRUE(read(env, cache, 2).ok());
}

TEST(RecordDamage, NoticesRecordsThatChangedPlaces) {
  MemoryEnv env;
  TestCache cache = make_test_cache();
  std::string& shard = cache.files[cache.shard_name(0, 0)];
  std::swap_ranges(shard.begin() + kFirstPayload, shard.begin() + kFirstPayload + kRecordBytes,
                   shard.begin() + kFirstPayload + kRecordBytes);
  EXPECT_EQ(read(env, cache, 0).status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(read(env, cache, 1).status().code(), StatusCode::kCorrupt);
}

TEST(RecordDamage, NoticesAShardUnderAnothersName) {
  MemoryEnv env;
  TestCache cache = make_test_cache({.clip_count = 8});
  ASSERT_EQ(cache.manifest.columns[0].shards[0].file_bytes,
            cache.manifest.columns[0].shards[1].file_bytes);
  std::swap(cache.files[cache.shard_name(0, 0)], cache.files[cache.shard_name(0, 1)]);
  const Status status = read(env, cache, 0).status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(), HasSubstr("another block's"));
}

TEST(RecordDamage, IsAMissingOrShortenedShard) {
  MemoryEnv env;
  TestCache cache = make_test_cache();
  const std::string name = cache.shard_name(0, 0);
  std::string& shard = cache.files[name];
  shard.resize(kFirstPayload + kRecordBytes + 7);
  EXPECT_TRUE(read(env, cache, 0).ok());  // lies inside of what is left
  const Status shortened = read(env, cache, 1).status();
  EXPECT_EQ(shortened.code(), StatusCode::kCorrupt);
  EXPECT_THAT(shortened.message(),
              AllOf(HasSubstr(name), HasSubstr("clip-101"), HasSubstr("the manifest says")));
  cache.files.erase(name);
  ASSERT_TRUE(env.remove_file("/cache/" + name).ok());
  const Status missing = read(env, cache, 0).status();
  EXPECT_EQ(missing.code(), StatusCode::kCorrupt);
  EXPECT_THAT(missing.message(), AllOf(HasSubstr(name), HasSubstr("missing")));
}

TEST(RecordDamage, IsNotWhatAFailingDiskIs) {
  MemoryEnv env;
  const TestCache cache = make_test_cache();
  cache.add_to(env, "/cache");
  auto view = CacheView::open(env, "/cache");
  ASSERT_TRUE(view.ok());
  env.set_hook([](EnvOperation& operation) {
    const bool shard = operation.path.find("/mel/") != std::string::npos;
    return operation.call == EnvCall::kRead && shard ? Status(StatusCode::kResource, "EIO")
                                                     : Status();
  });
  const Status status = (*view)->read_record("mel", 0).status();
  EXPECT_EQ(status.code(), StatusCode::kResource);
  EXPECT_THAT(status.message(), HasSubstr("clip-100"));
  EXPECT_TRUE((*view)->read_record("tokens", 0).ok());
}

}  // namespace
}  // namespace xtts::reader
