#include "probe/storage_probe.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.hpp"

namespace xtts::probe {
namespace {

TEST(MeasureStorage, ReadsRealFilesAndLeavesNothingBehind) {
  const testing::TempFolder folder;
  StorageProbe probe;
  probe.folder = folder.path();
  probe.writable_folder = folder.path();
  for (int i = 0; i < 40; ++i) {
    const std::string path = folder.path() + "/" + std::to_string(i);
    std::ofstream(path) << std::string(50'000, 'x');
    probe.extents.push_back({.path = path, .size_bytes = 50'000});
  }
  probe.budget = std::chrono::milliseconds(400);
  const StorageMeasurement found = measure_storage(Env::real(), probe);
  EXPECT_EQ(found.extent_bytes, 50'000.0);
  EXPECT_TRUE(found.sync_ms.has_value());
  // Some file systems have no direct reads; then the reason is told.
  EXPECT_NE(found.extent_ms.has_value(), !found.missing.empty());
  EXPECT_EQ(Env::real().list(folder.path())->size(), 40U);
}

TEST(MeasureStorage, AFileThatHasGoneIsNoFailure) {
  StorageProbe probe;
  probe.folder = "/no/such/folder";
  probe.extents = {{.path = "/no/such/folder/a", .size_bytes = 1000}};
  const StorageMeasurement found = measure_storage(Env::real(), probe);
  EXPECT_FALSE(found.extent_ms);
  EXPECT_FALSE(found.missing.empty());
}

}  // namespace
}  // namespace xtts::probe
