#include "plan/row_sorter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "support/memory_env.hpp"

namespace xtts::plan {
namespace {

using Row = std::pair<std::string, std::string>;

// Keys of 0 to 12 letters, of which many are equal or begin as others do.
std::vector<Row> some_rows(std::size_t count, std::size_t row_bytes) {
  std::mt19937 random(7);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i) {
    std::string key(random() % 13, 'a');
    for (char& letter : key) letter = random() % 4 == 0 ? static_cast<char>(random()) : 'a';
    rows.emplace_back(key, std::to_string(i) + std::string(row_bytes, '.'));
  }
  return rows;
}

std::vector<Row> read_all(const RowSorter& sorter) {
  std::vector<Row> rows;
  const auto sorted = sorter.read();
  EXPECT_TRUE(sorted.ok());
  while (true) {
    const auto has_more = (*sorted)->next();
    EXPECT_TRUE(has_more.ok()) << has_more.status().message();
    if (!has_more.ok() || !*has_more) return rows;
    rows.emplace_back((*sorted)->key(), (*sorted)->row());
  }
}

void expect_sorted(testing::MemoryEnv& env, std::vector<Row> rows, bool is_spilled) {
  RowSorter sorter(env, "/scratch", 1);
  for (const auto& [key, row] : rows) ASSERT_TRUE(sorter.add(key, row).ok());
  ASSERT_TRUE(sorter.finish().ok());
  EXPECT_EQ(env.exists("/scratch"), is_spilled);
  std::ranges::stable_sort(rows, {}, &Row::first);
  EXPECT_TRUE(read_all(sorter) == rows);
  EXPECT_TRUE(read_all(sorter) == rows) << "the second time";
  EXPECT_EQ(sorter.row_count(), rows.size());
}

TEST(RowSorter, SortsInMemory) {
  testing::MemoryEnv env;
  expect_sorted(env, {}, false);
  expect_sorted(env, some_rows(1000, 5), false);
}

TEST(RowSorter, SortsInManyRuns) {
  testing::MemoryEnv env;
  expect_sorted(env, some_rows(60'000, 90), true);
}

// A memory of 1 MiB has room for 16 windows of 64 KiB.
TEST(RowSorter, ReadsNoMoreRunsAtOnceThanItsMemoryHasRoomFor) {
  testing::MemoryEnv env;
  const auto rows = some_rows(60'000, 400);
  RowSorter sorter(env, "/scratch", 1);
  for (const auto& [key, row] : rows) ASSERT_TRUE(sorter.add(key, row).ok());
  ASSERT_TRUE(sorter.finish().ok());
  ASSERT_GT(env.contents("/scratch").size(), 17U << 20U) << "too few runs";
  std::uint64_t first_reads = 0;
  env.set_hook([&](testing::EnvOperation& operation) {
    first_reads += operation.call == testing::EnvCall::kRead ? 1 : 0;
    return Status();
  });
  ASSERT_TRUE(sorter.read().ok());
  env.set_hook({});
  EXPECT_LE(first_reads, 16U);
  EXPECT_FALSE(env.exists("/scratch.tmp"));
  expect_sorted(env, rows, true);
}

TEST(RowSorter, TakesARowThatIsLargerThanItsMemory) {
  testing::MemoryEnv env;
  expect_sorted(env, {{"b", std::string(3'000'000, 'x')}, {"a", "y"}, {"c", "z"}}, true);
}

TEST(RowSorter, TellsAScratchFileThatWasCut) {
  testing::MemoryEnv env;
  RowSorter sorter(env, "/scratch", 1);
  for (const auto& [key, row] : some_rows(60'000, 90)) ASSERT_TRUE(sorter.add(key, row).ok());
  ASSERT_TRUE(sorter.finish().ok());
  const std::string bytes = env.contents("/scratch");
  env.add_file("/scratch", bytes.substr(0, bytes.size() - 100));
  const auto rows = sorter.read();
  Status status = rows.status();
  for (bool has_more = rows.ok(); has_more;) {
    const auto next = (*rows)->next();
    status = next.status();
    has_more = next.ok() && *next;
  }
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace xtts::plan
