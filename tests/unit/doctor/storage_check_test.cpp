#include "doctor/storage_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.hpp"

namespace xtts::doctor {
namespace {

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30U;

// Measured figures of an NVMe disk.
StorageMeasurement fast_disk() {
  StorageMeasurement storage;
  storage.system.kind = StorageKind::kSsd;
  storage.extent_bytes = 200e3;
  storage.sequential_bytes_per_s = 2e9;
  storage.random_4k_ms = 0.08;
  storage.extent_ms = 0.25;
  storage.extents_per_s_deep = 20e3;
  return storage;
}

// A disk with 9 ms a seek.
StorageMeasurement rotating_disk() {
  StorageMeasurement storage;
  storage.system.kind = StorageKind::kRotating;
  storage.extent_bytes = 200e3;
  storage.sequential_bytes_per_s = 150e6;
  storage.random_4k_ms = 9.0;
  storage.extent_ms = 10.3;
  storage.extents_per_s_deep = 140.0;
  return storage;
}

StorageQuestion question(std::uint64_t whole_bytes) {
  StorageQuestion question;
  question.folder = "data";
  question.whole_bytes = whole_bytes;
  question.memory_available_bytes = 16 * kGibibyte;
  question.padded_record_bytes = std::uint64_t{800} * 80 * 4;
  question.packed_half_record_bytes = std::uint64_t{400} * 80 * 2;
  return question;
}

TEST(CheckStorage, AFastDiskPasses) {
  const Check check = check_storage(fast_disk(), question(100 * kGibibyte));
  EXPECT_EQ(check.status, CheckStatus::kPass);
  EXPECT_THAT(check.findings, ::testing::IsEmpty());
}

TEST(CheckStorage, ARotatingDiskFailsWhereTheCorpusDoesNotFitIntoMemory) {
  const Check check = check_storage(rotating_disk(), question(100 * kGibibyte));
  EXPECT_EQ(check.status, CheckStatus::kFail);
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_THAT(check.findings[0].text, ::testing::HasSubstr("330 ms one at a time"));
  EXPECT_THAT(check.findings[0].remedy, ::testing::HasSubstr("window"));
}

TEST(CheckStorage, ARotatingDiskWarnsWhereTheCorpusFits) {
  EXPECT_EQ(check_storage(rotating_disk(), question(kGibibyte)).status, CheckStatus::kWarn);
}

TEST(CheckStorage, SaysWhatACacheWouldChange) {
  const Check check = check_storage(rotating_disk(), question(100 * kGibibyte));
  const auto row = [&](const std::string& words) {
    for (const Evidence& one : check.evidence)
      if (one.what.find(words) != std::string::npos) return one.number.value_or(-1.0);
    return -1.0;
  };
  EXPECT_NEAR(row("padded float32"), 32 * 256e3 / 150e6 * 1e3, 0.01);
  EXPECT_NEAR(row("packed float16"), 32 * 64e3 / 150e6 * 1e3, 0.01);
}

TEST(CheckStorage, CannotTellWhatWasNotMeasured) {
  StorageMeasurement storage;
  storage.missing = "no direct reads here";
  const Check check = check_storage(storage, question(kGibibyte));
  EXPECT_EQ(check.status, CheckStatus::kCannotTell);
  EXPECT_THAT(check.summary, ::testing::HasSubstr("no direct reads here"));
}

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
}  // namespace xtts::doctor
