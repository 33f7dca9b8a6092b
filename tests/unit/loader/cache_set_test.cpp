// A set whose caches are opened by several threads at once.
#include "reader/cache_set.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "loader/loader.hpp"
#include "loader/stored_source.hpp"
#include "reader/block_map.hpp"
#include "reader/joined_set.hpp"
#include "support/memory_env.hpp"
#include "support/test_cache.hpp"

namespace xtts::loader {
namespace {

constexpr std::size_t kCaches = 12;
constexpr std::uint32_t kClips = 30;

class LateCaches : public ::testing::Test {
 protected:
  LateCaches() {
    std::vector<std::shared_ptr<reader::ClipTable>> tables;
    std::vector<std::string> names;
    formats::SetManifest set;
    for (std::size_t i = 0; i < kCaches; ++i) {
      names.push_back("cache-" + std::to_string(i));
      const std::string path = "/set/" + names.back();
      testing::make_test_cache({.clip_count = kClips}).add_to(env_, path);
      const auto view = *reader::CacheView::open(env_, path);
      tables.push_back(view);
      set.members.push_back({.path = names.back(),
                             .index_digest = view->manifest().index_digest,
                             .groups = *reader::groups_of(*view),
                             .column_bytes = {1, 1}});
      for (auto& group : set.members.back().groups) group.dataset = static_cast<std::uint16_t>(i);
    }
    set.whole = *reader::whole_of(tables, names);
    env_.add_file("/set/set.json", *formats::encode_set(set));
  }

  testing::MemoryEnv env_;
};

TEST_F(LateCaches, AreOpenedByAnyThread) {
  const auto set = *reader::CacheSet::open(env_, "/set");
  ASSERT_EQ(set->size(), kCaches * kClips);
  std::vector<std::thread> threads;
  for (std::uint64_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      guard_reads();
      for (std::uint64_t i = 0; i < set->size(); ++i) {
        const std::uint64_t position = (i * 7 + first * 90) % set->size();
        for (const reader::SharedColumn& column : set->columns()) {
          const auto place = set->locate_record(column, position);
          ASSERT_TRUE(place.ok()) << place.status().message();
          EXPECT_TRUE(place->map->verify(*place).ok());
        }
        EXPECT_EQ(set->plan_row(position)->dataset, position / kClips);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(LateCaches, AreReadByALoader) {
  const auto set = *reader::CacheSet::open(env_, "/set");
  ReaderOptions options{.batch_size = 8, .seed = 3};
  options.shuffle = Shuffle::kGlobal;
  options.thread_count = 4;
  const auto loader = Loader::open(std::make_shared<StoredSource>(set), options);
  ASSERT_TRUE(loader.ok()) << loader.status().message();
  std::set<std::uint64_t> positions;
  for (;;) {
    const auto lease = (*loader)->next();
    ASSERT_TRUE(lease.ok()) << lease.status().message();
    if (!*lease) break;
    positions.insert((**lease)->clips.positions.begin(), (**lease)->clips.positions.end());
  }
  EXPECT_EQ(positions.size(), set->size() / 8 * 8);
}

}  // namespace
}  // namespace xtts::loader
