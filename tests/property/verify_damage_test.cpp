// Damage of every kind, in caches with real shards of both stores and layouts: full verify must
// find it and name the file, and the clip where a record is hit; the reader must refuse exactly
// what the damage touches.
//
// The cache of three clips has 90,000 bytes, few enough to flip a bit in each, one verify a flip.
// The larger one, with several shards a column and tombstones, is sampled with a seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <span>

#include "formats/index.hpp"
#include "reader/cache_view.hpp"
#include "real_test_cache.hpp"
#include "request/verify_words.hpp"
#include "support/sanitized.hpp"
#include "verify/verify.hpp"

namespace xtts::verify {
namespace {

using testing::make_real_shards;
using testing::make_test_cache;
using testing::MemoryEnv;
using testing::Storage;
using testing::TestCache;
using testing::TestCacheOptions;

TestCacheOptions real_shards(const Storage& storage) {
  return {.store = storage.store,
          .layout = storage.layout,
          .clip_count = 6,
          .blocks_per_shard = 2,
          .tombstone_count = 1,
          .make_shard = make_real_shards(storage.store)};
}

TestCacheOptions tiny(const Storage& storage) {
  return {.store = storage.store,
          .layout = storage.layout,
          .clip_count = 3,
          .make_shard = make_real_shards(storage.store)};
}

// Where record `position` of a column lies, told by the index.
struct Place {
  std::string file;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class VerifyDamage : public ::testing::TestWithParam<Storage> {
 protected:
  VerifyDamage() { publish(real_shards(GetParam())); }

  void publish(const TestCacheOptions& options) {
    cache_ = make_test_cache(options);
    for (const std::string& file : env_.all_files()) ASSERT_TRUE(env_.remove_file(file).ok());
    cache_.add_to(env_, "/cache");
    auto view = reader::CacheView::open(env_, "/cache");
    ASSERT_TRUE(view.ok()) << view.status().message();
    for (std::uint32_t column = 0; column < 2; ++column) find_records(**view, column);
  }

  void find_records(reader::CacheView& view, std::uint32_t column) {
    records_[column].clear();
    for (std::uint64_t position = 0; position < cache_.clips.size(); ++position) {
      const auto location = view.location(column, position);
      const auto block = view.block(column, location->block_row);
      const std::string name = cache_.shard_name(column, block->shard);
      const auto header = formats::decode_block_header(
          as_bytes(std::string_view(cache_.files.at(name))
                       .substr(block->place.header_offset, formats::kBlockHeaderBytes)));
      ASSERT_TRUE(header.ok());
      const std::uint64_t begin =
          block->place.payload_offset + header->records[location->slot].offset_bytes;
      records_[column].push_back({name, begin, begin + header->region_bytes(location->slot)});
    }
  }

  // The clip whose record holds this byte; empty where none does.
  [[nodiscard]] std::string clip_at(const std::string& file, std::uint64_t offset) const {
    for (const auto& places : records_) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        const Place& place = places[i];
        if (place.file == file && offset >= place.begin && offset < place.end)
          return cache_.clips[i].id;
      }
    }
    return {};
  }

  [[nodiscard]] Report verify() {
    const auto report = verify_cache(env_, "/cache", {});
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : Report{};
  }

  void put(const std::string& name, std::string_view bytes) {
    env_.add_file("/cache/" + name, bytes);
  }

  void expect_flip_is_found(const std::string& name, std::uint64_t offset, int bit) {
    std::string bytes = cache_.files.at(name);
    bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
    put(name, bytes);
    const Report report = verify();
    put(name, cache_.files.at(name));
    const std::string where =
        name + " byte " + std::to_string(offset) + " bit " + std::to_string(bit);
    ASSERT_FALSE(report.findings.empty()) << where;
    ASSERT_EQ(report.ok, name == "rejects.jsonl") << where;
    const std::string clip = clip_at(name, offset);
    for (const Finding& finding : report.findings) {
      // With its index damaged, a shard may have no table to be checked by: it is named as well.
      if (request::what_of(finding) != "block table") {
        ASSERT_EQ(finding.file, name) << where << ": " << request::what_of(finding);
      }
    }
    ASSERT_TRUE(report.remedy) << where;
    ASSERT_TRUE(request::command_of(*report.remedy).find("--repair") != std::string::npos) << where;
    if (clip.empty()) return;
    ASSERT_EQ(report.findings.size(), 1) << where;
    ASSERT_EQ(report.findings[0].clip, clip) << where;
    ASSERT_EQ(request::what_of(report.findings[0]), "record") << where;
  }

  MemoryEnv env_;
  TestCache cache_;
  std::vector<Place> records_[2];
};

TEST_P(VerifyDamage, FindsNothingWhereThereIsNone) {
  const Report report = verify();
  EXPECT_TRUE(report.ok);
  EXPECT_TRUE(report.findings.empty())
      << report.findings[0].file << " " << request::words_of(report.findings[0].found);
}

// The address sanitizer takes eight times as long: far fewer bytes, for its sake and not for
// theirs.
constexpr std::uint64_t kFlipStep = testing::kIsSanitized ? 101 : 1;
constexpr std::uint64_t kSampleStepMax = testing::kIsSanitized ? 499 : 61;

TEST_P(VerifyDamage, FindsAFlipOfAnyByteOfAnyFile) {
  publish(tiny(GetParam()));
  // One byte in five, from another place in each run; XTTS_EVERY_BYTE takes them all.
  const std::uint64_t fewer = std::getenv("XTTS_EVERY_BYTE") != nullptr ? 1 : 5;
  const std::uint64_t step = fewer * kFlipStep;
  const std::uint64_t first = std::random_device()() % fewer;
  SCOPED_TRACE(first);
  std::mt19937 random(20'240'601);
  for (const auto& [name, bytes] : cache_.files) {
    for (std::uint64_t offset = first; offset < bytes.size(); offset += step) {
      expect_flip_is_found(name, offset, static_cast<int>(random() % 8));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(VerifyDamage, FindsAnyBitOfASeededSampleAmongManyShards) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (const auto& [name, bytes] : cache_.files) {
    for (std::uint64_t offset = random() % kSampleStepMax; offset < bytes.size();
         offset += 1 + random() % kSampleStepMax) {
      expect_flip_is_found(name, offset, static_cast<int>(random() % 8));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(VerifyDamage, FindsACutAtAnyPage) {
  for (const auto& [name, bytes] : cache_.files) {
    if (name == "rejects.jsonl") continue;
    std::set<std::size_t> sizes = {0, 1, bytes.size() - 1};
    for (std::size_t size = formats::kPageBytes; size < bytes.size(); size += formats::kPageBytes)
      sizes.insert(size);
    for (const std::size_t size : sizes) {
      put(name, std::string_view(bytes).substr(0, size));
      const Report report = verify();
      put(name, bytes);
      ASSERT_FALSE(report.ok) << name << " cut to " << size;
      for (const Finding& finding : report.findings) ASSERT_EQ(finding.file, name) << size;
    }
  }
}

// Records of one size, in two shards: their bytes are sound, their places are not.
TEST_P(VerifyDamage, FindsRecordsThatHaveChangedPlaces) {
  const Place& first = records_[0][0];
  const Place& second = records_[0][5];
  const std::size_t size = first.end - first.begin;
  ASSERT_EQ(size, second.end - second.begin);
  std::string one = cache_.files.at(first.file);
  std::string other = cache_.files.at(second.file);
  ASSERT_NE(first.file, second.file);
  std::swap_ranges(one.begin() + static_cast<std::ptrdiff_t>(first.begin),
                   one.begin() + static_cast<std::ptrdiff_t>(first.end),
                   other.begin() + static_cast<std::ptrdiff_t>(second.begin));
  put(first.file, one);
  put(second.file, other);
  const Report report = verify();
  ASSERT_EQ(report.findings.size(), 2);
  EXPECT_EQ(report.findings[0].clip, cache_.clips[0].id);
  EXPECT_EQ(report.findings[1].clip, cache_.clips[5].id);
}

TEST_P(VerifyDamage, FindsShardsThatHaveChangedNames) {
  const std::string first = cache_.shard_name(0, 0);
  const std::string second = cache_.shard_name(0, 1);
  put(first, cache_.files.at(second));
  put(second, cache_.files.at(first));
  std::set<std::string> named;
  for (const Finding& finding : verify().findings) named.insert(finding.file);
  EXPECT_THAT(named, ::testing::ElementsAre(first, second));
}

TEST_P(VerifyDamage, FindsAnOlderIndexPutBack) {
  TestCacheOptions older = real_shards(GetParam());
  older.generation = 2;
  const TestCache other = make_test_cache(older);
  ASSERT_EQ(other.files.at(other.index_name).size(), cache_.files.at(cache_.index_name).size());
  put(cache_.index_name, other.files.at(other.index_name));
  const Report report = verify();
  ASSERT_EQ(report.findings.size(), 1);
  EXPECT_EQ(report.findings[0].file, cache_.index_name);
}

// The reader: the clip that is hit fails, and only that one.
TEST_P(VerifyDamage, StopsTheReaderAtTheClipThatIsHit) {
  std::mt19937 random(7);
  for (std::uint64_t hit = 0; hit < cache_.clips.size(); ++hit) {
    const Place& place = records_[0][hit];
    std::string bytes = cache_.files.at(place.file);
    const std::uint64_t offset = place.begin + random() % (place.end - place.begin);
    bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << random() % 8));
    put(place.file, bytes);
    const auto view = reader::CacheView::open(env_, "/cache");
    ASSERT_TRUE(view.ok());
    for (std::uint64_t position = 0; position < cache_.clips.size(); ++position) {
      const Status status = (*view)->read_record("mel", position).status();
      EXPECT_EQ(status.code(), position == hit ? StatusCode::kCorrupt : StatusCode::kOk)
          << status.message();
      EXPECT_TRUE((*view)->read_record("tokens", position).ok());
    }
    put(place.file, cache_.files.at(place.file));
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, VerifyDamage, ::testing::ValuesIn(testing::all_storages()),
                         [](const auto& storage) { return storage.param.name(); });

}  // namespace
}  // namespace xtts::verify
