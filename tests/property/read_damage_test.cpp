// The readers' side of damage: bytes of every file of a small cache flipped, every file cut at
// every page (and a byte before and behind it, and anywhere), and then everything read. Each answer
// is the right one or a typed refusal; wrong bytes are never handed out, and nothing dies.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

#include "read_everything.hpp"
#include "reader/cache_view.hpp"
#include "real_test_cache.hpp"
#include "support/sanitized.hpp"
#include "support/temp_folder.hpp"
#include "verify/verify.hpp"

namespace xtts::testing {
namespace {

constexpr const char* kCache = "/cache";

TestCacheOptions tiny(const Storage& storage) {
  return {.store = storage.store,
          .layout = storage.layout,
          .clip_count = 3,
          .tombstone_count = 1,
          .make_shard = make_real_shards(storage.store)};
}

std::vector<std::string> ids_of(const TestCache& cache) {
  std::vector<std::string> ids;
  for (const TestClip& clip : cache.clips) ids.push_back(clip.id);
  return ids;
}

// Sizes to cut a file to: every page's edge, a byte before and behind, and twenty anywhere.
std::set<std::size_t> cuts_of(std::size_t size_bytes, std::mt19937& random) {
  std::set<std::size_t> cuts = {0, 1, size_bytes - 1};
  for (std::size_t edge = formats::kPageBytes; edge <= size_bytes; edge += formats::kPageBytes) {
    for (const std::size_t cut : {edge - 1, edge, edge + 1}) cuts.insert(cut);
  }
  for (int i = 0; i < 20; ++i) cuts.insert(random() % size_bytes);
  cuts.erase(cuts.lower_bound(size_bytes), cuts.end());
  return cuts;
}

// Neither the copy for people nor the local file is read by a reader.
bool is_read(const std::string& name) {
  return name != "rejects.jsonl";
}

class ReadDamage : public ::testing::TestWithParam<Storage> {
 protected:
  ReadDamage() : cache_(make_test_cache(tiny(GetParam()))), ids_(ids_of(cache_)) {
    cache_.add_to(env_, kCache);
    truth_ = read_everything(env_, kCache, ids_);
  }

  TestCache cache_;
  std::vector<std::string> ids_;
  MemoryEnv env_;
  Answers truth_;
};

TEST_P(ReadDamage, IsNoneInASoundCache) {
  EXPECT_EQ(refusal_count(truth_), 0U);
  EXPECT_GT(truth_.size(), 20U);
}

// Opening a cache anew for each byte takes minutes, so of a shard's bytes one in fifteen is taken,
// others in each run; XTTS_EVERY_BYTE takes them all.
TEST_P(ReadDamage, OfAnyByteOfAnyFileIsRefusedOrDoesNotMatter) {
  const bool every_byte = std::getenv("XTTS_EVERY_BYTE") != nullptr;
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (const auto& [name, bytes] : cache_.files) {
    constexpr unsigned kFewer = kIsSanitized ? 11 : 1;
    const unsigned step_max = every_byte ? 1 : kFewer * (name.starts_with("shards/") ? 29 : 5);
    std::string damaged = bytes;
    std::size_t refused_count = 0;
    for (std::size_t offset = random() % step_max; offset < bytes.size();
         offset += 1 + random() % step_max) {
      damaged[offset] = static_cast<char>(damaged[offset] ^ (1 << random() % 8));
      env_.add_file(std::string(kCache) + "/" + name, damaged);
      const Answers answers = read_everything(env_, kCache, ids_);
      ASSERT_EQ(first_falsehood(truth_, answers), "") << name << " byte " << offset;
      refused_count += refusal_count(answers) > 0 ? 1U : 0U;
      damaged[offset] = bytes[offset];
    }
    env_.add_file(std::string(kCache) + "/" + name, bytes);
    EXPECT_EQ(refused_count > 0, is_read(name)) << name;
  }
}

// On real files, because only those can raise SIGBUS, should anybody ever map them.
// Records inside a cut shard are read; the others are refused, and verify finds every cut.
TEST_P(ReadDamage, OfLengthIsFoundAtEveryCutAndRefusedWhereBytesAreGone) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const TempFolder folder;
  for (const auto& [name, bytes] : cache_.files) folder.write(name, bytes);
  std::size_t cut_count = 0;
  for (const auto& [name, bytes] : cache_.files) {
    for (const std::size_t cut : cuts_of(bytes.size(), random)) {
      SCOPED_TRACE(name + " cut to " + std::to_string(cut));
      folder.write(name, std::string_view(bytes).substr(0, cut));
      const Answers answers = read_everything(Env::real(), folder.path(), ids_);
      ASSERT_EQ(first_falsehood(truth_, answers), "");
      const bool is_shard = name.starts_with("shards/");
      if (!is_shard) {
        ASSERT_EQ(refusal_count(answers) > 0, is_read(name));
      }
      // No block begins in the first page.
      if (is_shard && cut < formats::kPageBytes) {
        ASSERT_GT(refusal_count(answers), 0U);
      }
      for (const auto level : {verify::Level::kQuick, verify::Level::kFull}) {
        const auto report = verify::verify_cache(Env::real(), folder.path(), {.level = level});
        ASSERT_TRUE(report.ok()) << report.status().message();
        ASSERT_EQ(report->ok, !is_read(name));
        ASSERT_GT(report->finding_count, 0U);  // of the copy for people, a note
      }
      ++cut_count;
    }
    folder.write(name, bytes);
  }
  EXPECT_GT(cut_count, 100U);
}

// Cut while a reader has the file open: the rest is not there any more.
TEST_P(ReadDamage, OfLengthUnderAnOpenReaderIsRefused) {
  for (const auto& [name, bytes] : cache_.files) {
    if (name == "manifest.json" || !is_read(name)) continue;
    const TempFolder folder;
    for (const auto& [file, contents] : cache_.files) folder.write(file, contents);
    const auto view = reader::CacheView::open(Env::real(), folder.path());
    ASSERT_TRUE(view.ok());
    const std::string column = name.find("/tokens/") == std::string::npos ? "mel" : "tokens";
    if (name.starts_with("shards/")) {
      ASSERT_TRUE((*view)->read_record(column, 0).ok());
    }
    std::filesystem::resize_file(folder.path() + "/" + name, bytes.size() / 3);
    std::size_t refused_count = 0;
    for (std::uint64_t position = 0; position < ids_.size(); ++position) {
      const auto record = (*view)->read_record(column, position);
      if (record.ok()) continue;
      EXPECT_EQ(record.status().code(), StatusCode::kCorrupt) << record.status().message();
      ++refused_count;
    }
    // An index this small is in memory by now, checked; of a shard nothing is kept.
    EXPECT_EQ(refused_count > 0, name.starts_with("shards/")) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, ReadDamage, ::testing::ValuesIn(all_storages()),
                         [](const auto& storage) { return storage.param.name(); });

}  // namespace
}  // namespace xtts::testing
