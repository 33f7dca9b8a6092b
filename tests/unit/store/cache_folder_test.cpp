#include "store/cache_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "image_samples.hpp"
#include "sample_cache.hpp"
#include "support/memory_env.hpp"
#include "support/temp_folder.hpp"

namespace xtts::testing {
namespace {

using store::CacheFolder;
using store::SealedShard;
using ::testing::HasSubstr;

constexpr std::string_view kCache = "/data/cache";

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::unique_ptr<CacheFolder> open_folder(Env& env, const std::string& cache = std::string(kCache)) {
  auto folder = CacheFolder::open(env, cache);
  EXPECT_TRUE(folder.ok()) << folder.status().message();
  return folder ? std::move(*folder) : nullptr;
}

std::string shard_path(const SealedShard& shard) {
  return store::shard_path(std::string(kCache), shard);
}

// A folder in memory with one published generation of two shards.
class Published : public ::testing::Test {
 protected:
  void SetUp() override {
    env_.add_folder("/data");
    folder_ = open_folder(env_);
    for (std::uint64_t ordinal = 0; ordinal < 2; ++ordinal) {
      const SampleImage sample = sample_image(column_, 10, 100 * ordinal);
      auto sealed = folder_->seal("mel", ordinal, sample.finished);
      ASSERT_TRUE(sealed.ok()) << sealed.status().message();
      shards_.push_back(std::move(*sealed));
    }
    index_ = sample_index(1, "first");
    ASSERT_TRUE(commit_index(*folder_, index_).ok());
    manifest_ = sample_manifest(1, index_, {{column_, shards_}});
    const Status status = folder_->publish(manifest_, "rejects\n");
    ASSERT_TRUE(status.ok()) << status.message();
  }

  [[nodiscard]] static std::string index_path(const SampleIndex& index) {
    return join_path(kCache, formats::index_file_name(index.digest));
  }

  // A second generation of the first shard alone.
  [[nodiscard]] formats::Manifest publish_second() {
    const SampleIndex index = sample_index(2, "second");
    EXPECT_TRUE(commit_index(*folder_, index).ok());
    auto manifest = sample_manifest(2, index, {{column_, {shards_[0]}}});
    EXPECT_TRUE(folder_->publish(manifest, "").ok());
    return manifest;
  }

  MemoryEnv env_;
  const formats::ColumnSpec column_ = mel_column({10, 3});
  std::unique_ptr<CacheFolder> folder_;
  std::vector<SealedShard> shards_;
  SampleIndex index_;
  formats::Manifest manifest_;
};

TEST_F(Published, NamesShardsByNumberAndDigestOfTheirBytes) {
  const SampleImage sample = sample_image(column_, 10, 100);
  EXPECT_EQ(shards_[1].digest, sample.finished.table.digest());
  EXPECT_EQ(shard_path(shards_[1]),
            "/data/cache/shards/mel/00001-" + shards_[1].digest.to_hex() + ".lmdb");
  EXPECT_EQ(env_.contents(shard_path(shards_[1])), text_of(sample.finished.bytes));
}

TEST_F(Published, SurvivesAPowerCutWhole) {
  env_.forget_unsynced();
  EXPECT_TRUE(env_.exists(shard_path(shards_[0])));
  EXPECT_TRUE(env_.exists(shard_path(shards_[1])));
  EXPECT_EQ(env_.contents(index_path(index_)), index_.bytes);
  EXPECT_EQ(env_.contents(store::rejects_path(std::string(kCache))), "rejects\n");
  const auto read_back = formats::decode_manifest(env_.contents("/data/cache/manifest.json"));
  ASSERT_TRUE(read_back.ok());
  EXPECT_EQ(read_back->generation, 1U);
}

TEST_F(Published, ReadsItsManifestBack) {
  const auto manifest = folder_->manifest();
  ASSERT_TRUE(manifest.ok() && manifest->has_value());
  EXPECT_EQ((*manifest)->columns[0].shards[1].digest, shards_[1].digest);
}

TEST_F(Published, TellsADamagedManifestFromNone) {
  std::string text = env_.contents("/data/cache/manifest.json");
  text[text.size() / 2] ^= 1;
  env_.add_file("/data/cache/manifest.json", text);
  EXPECT_EQ(folder_->manifest().status().code(), StatusCode::kCorrupt);
  ASSERT_TRUE(env_.remove_file("/data/cache/manifest.json").ok());
  const auto none = folder_->manifest();
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
}

TEST_F(Published, RefusesAManifestThatNamesWhatIsNotThere) {
  ASSERT_TRUE(env_.remove_file(shard_path(shards_[1])).ok());
  auto next = manifest_;
  next.generation = 2;
  EXPECT_EQ(folder_->publish(next, "").code(), StatusCode::kCorrupt);
  const auto manifest = folder_->manifest();
  EXPECT_EQ((*manifest)->generation, 1U);
}

TEST_F(Published, IntactMeansThereWithItsSizeAndItsHeaders) {
  const SealedShard& shard = shards_[0];
  const std::string path = shard_path(shard);
  const std::string whole = env_.contents(path);
  EXPECT_TRUE(*folder_->is_intact(shard));

  env_.add_file(path, whole.substr(0, whole.size() - 1));
  EXPECT_FALSE(*folder_->is_intact(shard));
  std::string damaged = whole;
  damaged[shard.table.blocks[0].header_offset + 300] ^= 1;
  env_.add_file(path, damaged);
  EXPECT_FALSE(*folder_->is_intact(shard));
  ASSERT_TRUE(env_.remove_file(path).ok());
  EXPECT_FALSE(*folder_->is_intact(shard));

  env_.add_file(path, whole);
  SealedShard other = shard;
  other.table.structure_check ^= 1;
  EXPECT_FALSE(*folder_->is_intact(other)) << "the table is not of this digest";
}

TEST_F(Published, TheSameIndexAgainStaysTheSameFile) {
  const std::string path = index_path(index_);
  const auto before = env_.stat(path);
  ASSERT_TRUE(commit_index(*folder_, index_).ok());
  EXPECT_EQ(env_.stat(path)->inode, before->inode);

  std::string damaged = index_.bytes;
  damaged[5] ^= 1;
  env_.add_file(path, damaged);
  ASSERT_TRUE(commit_index(*folder_, index_).ok());
  EXPECT_EQ(env_.contents(path), index_.bytes);
}

TEST_F(Published, CommitsNoFileThatWasNotSyncedAndClosed) {
  const auto commit_after = [&](bool sync, bool append_again, bool close) {
    auto file = folder_->begin_file("index");
    EXPECT_TRUE((*file)->append(as_bytes("1")).ok());
    if (sync) {
      EXPECT_TRUE((*file)->sync().ok());
    }
    if (append_again) {
      EXPECT_TRUE((*file)->append(as_bytes("2")).ok());
    }
    if (close) {
      EXPECT_TRUE((*file)->close().ok());
    }
    return folder_->commit_file("index", "index-x.bin").code();
  };
  EXPECT_EQ(commit_after(false, false, true), StatusCode::kInternal);
  EXPECT_EQ(commit_after(true, true, true), StatusCode::kInternal);
  EXPECT_EQ(commit_after(true, false, false), StatusCode::kInternal);
  EXPECT_EQ(commit_after(true, false, true), StatusCode::kOk);
  EXPECT_EQ(folder_->commit_file("index", "index-x.bin").code(), StatusCode::kInternal)
      << "it is committed already";
}

TEST_F(Published, GarbageIsWhatNeitherManifestNorBuildNames) {
  const SampleImage kept = sample_image(column_, 5, 1000);
  const SampleImage orphan = sample_image(column_, 5, 2000);
  const auto kept_shard = folder_->seal("mel", 2, kept.finished);
  const auto orphan_shard = folder_->seal("mel", 2, orphan.finished);
  const SampleIndex stray = sample_index(9, "stray");
  ASSERT_TRUE(commit_index(*folder_, stray).ok());
  env_.add_file("/data/cache/notes.txt", "mine");
  env_.add_file("/data/cache/shards/mel/mine.lmdb", "mine");

  const Status status = folder_->collect_garbage(&manifest_, {&*kept_shard, 1});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(env_.exists(shard_path(*orphan_shard)));
  EXPECT_FALSE(env_.exists(index_path(stray)));
  for (const std::string& path :
       {shard_path(*kept_shard), shard_path(shards_[0]), shard_path(shards_[1]), index_path(index_),
        std::string("/data/cache/notes.txt"), std::string("/data/cache/shards/mel/mine.lmdb")}) {
    EXPECT_TRUE(env_.exists(path)) << path;
  }
}

TEST_F(Published, GarbageOfTheOtherStoreGoesToo) {
  const SampleImage sample = sample_image(column_, 5, 1000, 0, formats::StoreKind::kHdf5);
  const auto sealed = folder_->seal("mel", 2, sample.finished);
  ASSERT_TRUE(sealed.ok()) << sealed.status().message();
  EXPECT_THAT(shard_path(*sealed), ::testing::EndsWith(".h5"));
  env_.add_file("/data/cache/shards/mel/mine.h5", "mine");
  ASSERT_TRUE(folder_->collect_garbage(&manifest_, {&*sealed, 1}).ok());
  EXPECT_TRUE(env_.exists(shard_path(*sealed)));
  EXPECT_TRUE(*folder_->is_intact(*sealed));
  ASSERT_TRUE(folder_->collect_garbage(&manifest_, {}).ok());
  EXPECT_FALSE(env_.exists(shard_path(*sealed)));
  EXPECT_TRUE(env_.exists("/data/cache/shards/mel/mine.h5"));
}

TEST_F(Published, WithoutAManifestEverythingPublishedLookingIsGarbage) {
  ASSERT_TRUE(env_.remove_file("/data/cache/manifest.json").ok());
  ASSERT_TRUE(folder_->collect_garbage(nullptr, {}).ok());
  EXPECT_FALSE(env_.exists(shard_path(shards_[0])));
  EXPECT_FALSE(env_.exists(index_path(index_)));
}

// Whatever the caller believes: another builder may have published meanwhile.
TEST_F(Published, WhatTheManifestNamesAsItIsNowIsNoGarbage) {
  const auto second = publish_second();
  const SampleImage orphan = sample_image(column_, 5, 2000);
  const auto orphan_shard = folder_->seal("mel", 2, orphan.finished);
  for (const formats::Manifest* believed :
       std::initializer_list<const formats::Manifest*>{nullptr, &manifest_})
    ASSERT_TRUE(folder_->collect_garbage(believed, {}).ok());
  EXPECT_TRUE(env_.exists(join_path(kCache, formats::index_file_name(second.index_digest))));
  EXPECT_TRUE(env_.exists(shard_path(shards_[0])));
  EXPECT_FALSE(env_.exists(shard_path(*orphan_shard)));
  // Nor is anything while the manifest cannot be read.
  env_.add_file("/data/cache/manifest.json", "damaged");
  ASSERT_TRUE(folder_->collect_garbage(nullptr, {}).ok());
  EXPECT_TRUE(env_.exists(shard_path(shards_[0])));
}

TEST_F(Published, GenerationsAreCountedInAllThatNamesThem) {
  EXPECT_EQ(folder_->generations()->newest, 1U);
  const SampleIndex stray = sample_index(7, "of a build that died");
  ASSERT_TRUE(commit_index(*folder_, stray).ok());
  EXPECT_EQ(folder_->generations()->newest, 1U) << "it was never published";
  EXPECT_FALSE(env_.exists(index_path(stray)));

  const SampleIndex held = sample_index(9, "of a generation that is read");
  ASSERT_TRUE(commit_index(*folder_, held).ok());
  const auto reader = env_.lock(index_path(held), LockKind::kShared);
  EXPECT_EQ(folder_->generations()->newest, 9U);
  EXPECT_TRUE(folder_->generations()->are_others_read);

  // Without a manifest the indexes count, and without them the shards.
  ASSERT_TRUE(env_.remove_file("/data/cache/manifest.json").ok());
  ASSERT_TRUE(commit_index(*folder_, stray).ok());
  ASSERT_TRUE(env_.remove_file(index_path(held)).ok());
  EXPECT_EQ(folder_->generations()->newest, 7U);
  ASSERT_TRUE(env_.remove_file(index_path(stray)).ok());
  ASSERT_TRUE(env_.remove_file(index_path(index_)).ok());
  EXPECT_EQ(folder_->generations()->newest, 1U) << "as the shards' headers say";
}

TEST_F(Published, AGenerationStaysAsLongAsAReaderHoldsIt) {
  auto reader = env_.lock(index_path(index_), LockKind::kShared);
  ASSERT_TRUE(reader.ok());
  const auto second = publish_second();
  ASSERT_TRUE(folder_->collect_garbage(&second, {}).ok());
  EXPECT_TRUE(env_.exists(index_path(index_)));
  EXPECT_TRUE(env_.exists(shard_path(shards_[1])));

  reader->reset();
  ASSERT_TRUE(folder_->collect_garbage(&second, {}).ok());
  EXPECT_FALSE(env_.exists(index_path(index_)));
  EXPECT_FALSE(env_.exists(shard_path(shards_[1])));
  EXPECT_TRUE(env_.exists(shard_path(shards_[0]))) << "the second generation names it too";
}

TEST_F(Published, AReaderOfThePublishedGenerationHindersNoCollection) {
  const auto second = publish_second();
  const auto reader = env_.lock(join_path(kCache, formats::index_file_name(second.index_digest)),
                                LockKind::kShared);
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE(folder_->collect_garbage(&second, {}).ok());
  EXPECT_FALSE(env_.exists(shard_path(shards_[1])));
}

TEST_F(Published, FinishLeavesNoBuildFolder) {
  ASSERT_TRUE(folder_->finish().ok());
  for (const std::string& path : env_.all_files()) {
    EXPECT_EQ(path.find(".build"), std::string::npos) << path;
  }
  EXPECT_FALSE(env_.exists("/data/cache/.build"));
  EXPECT_TRUE(CacheFolder::open(env_, std::string(kCache)).ok()) << "although the object lives";
}

TEST_F(Published, OpeningThrowsAwayUnsealedFilesAndKeepsTheJournal) {
  env_.add_file("/data/cache/.build/mel-7.tmp", "half a shard");
  env_.add_file("/data/cache/.build/journal", "lines");
  folder_.reset();
  folder_ = open_folder(env_);
  EXPECT_FALSE(env_.exists("/data/cache/.build/mel-7.tmp"));
  EXPECT_TRUE(env_.exists("/data/cache/.build/journal"));
}

TEST(CacheFolder, ASecondBuilderIsToldWhoHoldsIt) {
  const TempFolder temp;
  const std::string cache = join_path(temp.path(), "cache");
  auto first = open_folder(Env::real(), cache);
  const auto second = CacheFolder::open(Env::real(), cache);
  EXPECT_EQ(second.status().code(), StatusCode::kBusy);
  EXPECT_THAT(second.status().message(), HasSubstr("process " + std::to_string(::getpid())));
  EXPECT_THAT(second.status().message(), HasSubstr("host "));
  first.reset();
  EXPECT_TRUE(CacheFolder::open(Env::real(), cache).ok());
}

TEST(CacheFolder, AStaleLockFileIsNoLock) {
  MemoryEnv env;
  env.add_file("/cache/.build/lock", "host elsewhere, process 1\n");
  EXPECT_TRUE(CacheFolder::open(env, "/cache").ok());
}

// A builder that finishes removes the lock's file while we are about to lock it: we would hold a
// file that nobody else can find.
TEST(CacheFolder, ALockOnARemovedFileIsNotBelieved) {
  MemoryEnv env;
  int lock_count = 0;
  env.set_hook([&](EnvOperation& operation) {
    if (operation.call != EnvCall::kStat || !operation.path.ends_with("/lock")) return Status();
    // The second look, after the lock was taken.
    if (++lock_count == 2) {
      EXPECT_TRUE(env.remove_file("/cache/.build/lock").ok());
    }
    return Status();
  });
  const auto first = CacheFolder::open(env, "/cache");
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(lock_count, 4) << "two looks for each of two attempts";
  EXPECT_EQ(CacheFolder::open(env, "/cache").status().code(), StatusCode::kBusy);
}

TEST(CacheFolder, AFullDiskLeavesNothingUnderAPublishedName) {
  MemoryEnv env;
  auto folder = open_folder(env, "/cache");
  env.set_hook([](EnvOperation& operation) {
    if (operation.call != EnvCall::kAppend) return Status();
    operation.torn_bytes = operation.size_bytes / 2;
    return Status(StatusCode::kResource, "No space left on device");
  });
  const SampleImage sample = sample_image(mel_column({10, 3}), 10);
  EXPECT_EQ(folder->seal("mel", 0, sample.finished).status().code(), StatusCode::kResource);
  for (const std::string& path : env.all_files()) {
    EXPECT_TRUE(path.starts_with("/cache/.build/")) << path;
  }
}

TEST(CacheFolder, SealsOnARealDisk) {
  const TempFolder temp;
  const std::string cache = join_path(temp.path(), "a/b/cache");
  auto folder = open_folder(Env::real(), cache);
  const SampleImage sample = sample_image(mel_column({800, 80}), 40);
  const auto sealed = folder->seal("mel", 0, sample.finished);
  ASSERT_TRUE(sealed.ok()) << sealed.status().message();
  EXPECT_TRUE(*folder->is_intact(*sealed));
  const auto text = read_text_file(Env::real(), store::shard_path(cache, *sealed), 1U << 30U);
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(*text == text_of(sample.finished.bytes));
  EXPECT_TRUE(folder->finish().ok());
  EXPECT_FALSE(Env::real().stat(store::build_folder(cache)).ok());
}

}  // namespace
}  // namespace xtts::testing
