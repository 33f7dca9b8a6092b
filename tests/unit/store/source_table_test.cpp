#include "store/source_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "store/cache_folder.hpp"
#include "support/memory_env.hpp"

namespace xtts::testing {
namespace {

using store::load_source_table;
using store::save_source_table;
using store::SourceRow;
using store::SourceTable;

constexpr const char* kPath = "/cache/sources.bin";

SourceTable sample_table(std::size_t row_count) {
  SourceTable table{.data = {"/data/گفتار", {"/mnt/hdd", "/srv/صدا"}},
                    .plan_digest = digest128("plan"),
                    .index_digest = digest128("index"),
                    .rows = {}};
  for (std::size_t i = 0; i < row_count; ++i) {
    table.rows.push_back({.id_hash = digest128("clip-" + std::to_string(i)),
                          .size_bytes = 1000 + i,
                          .mtime_ns = -5 + static_cast<std::int64_t>(i),
                          .ctime_ns = 7 + static_cast<std::int64_t>(i),
                          .inode = i << 40U,
                          .reject_check = i % 3,
                          .content = digest128(std::to_string(i % 3))});
  }
  return table;
}

class SourceTables : public ::testing::Test {
 protected:
  void SetUp() override { env_.add_folder("/cache"); }

  std::string saved(std::size_t row_count) {
    const auto folder = store::CacheFolder::open(env_, "/cache");
    EXPECT_TRUE(save_source_table(**folder, sample_table(row_count)).ok());
    return env_.contents(kPath);
  }
  MemoryEnv env_;
};

TEST_F(SourceTables, ReadBackWhatWasSavedAscending) {
  for (const std::size_t row_count : {0U, 1U, 100U, 16384U, 16385U, 40000U}) {
    saved(row_count);
    const auto table = load_source_table(env_, "/cache");
    ASSERT_TRUE(table.has_value()) << row_count;
    EXPECT_EQ(table->data, (formats::DataFolders{"/data/گفتار", {"/mnt/hdd", "/srv/صدا"}}));
    EXPECT_EQ(table->plan_digest, digest128("plan"));
    EXPECT_EQ(table->index_digest, digest128("index"));
    ASSERT_EQ(table->rows.size(), row_count);
    EXPECT_TRUE(std::ranges::is_sorted(table->rows, {}, &SourceRow::id_hash));
    for (const SourceRow& row : sample_table(row_count).rows) {
      const SourceRow* found = table->find(row.id_hash);
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->size_bytes, row.size_bytes);
      EXPECT_EQ(found->mtime_ns, row.mtime_ns);
      EXPECT_EQ(found->ctime_ns, row.ctime_ns);
      EXPECT_EQ(found->inode, row.inode);
      EXPECT_EQ(found->content, row.content);
      EXPECT_EQ(found->reject_check, row.reject_check);
    }
    EXPECT_EQ(table->find(digest128("nobody")), nullptr);
  }
}

// cache-v1.md, section 10: 64 bytes of head, the paths with a NUL between to a multiple of 8, 72 a
// row, the check.
TEST_F(SourceTables, HaveTheDocumentedSize) {
  const std::size_t path_bytes = std::string("/data/گفتار|/mnt/hdd|/srv/صدا").size();
  EXPECT_EQ(saved(10).size(), 64 + (path_bytes + 7) / 8 * 8 + 720 + 8);
}

TEST_F(SourceTables, AreIgnoredWhenAbsentOrCut) {
  EXPECT_FALSE(load_source_table(env_, "/cache").has_value());
  const std::string whole = saved(3);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    env_.add_file(kPath, whole.substr(0, size));
    EXPECT_FALSE(load_source_table(env_, "/cache").has_value()) << size;
  }
  env_.add_file(kPath, whole + "x");
  EXPECT_FALSE(load_source_table(env_, "/cache").has_value());
}

TEST_F(SourceTables, AreIgnoredWhenAnyBitIsWrong) {
  const std::string whole = saved(3);
  for (std::size_t i = 0; i < whole.size() * 8; ++i) {
    std::string damaged = whole;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
    env_.add_file(kPath, damaged);
    EXPECT_FALSE(load_source_table(env_, "/cache").has_value()) << "bit " << i;
  }
}

}  // namespace
}  // namespace xtts::testing
