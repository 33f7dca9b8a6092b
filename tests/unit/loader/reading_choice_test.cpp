#include "loader/reading_choice.hpp"

#include <gtest/gtest.h>

namespace xtts::loader {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

ReadingFacts facts_of(StorageKind kind, std::uint64_t file_bytes, double resident_share) {
  return {.storage = {.kind = kind, .file_system = "ext4", .device = "sda1"},
          .file_bytes = file_bytes,
          .resident_share = resident_share,
          .available_memory_bytes = 16 * kGiB};
}

Reading chosen(const ReadingFacts& facts, const ReaderOptions& options = {}) {
  return choose_reading(facts, options).reading;
}

TEST(ReadingChoice, CachesLargerThanMemoryAreReadPastThePageCache) {
  EXPECT_EQ(chosen(facts_of(StorageKind::kSsd, 100 * kGiB, 0)), Reading::kDirect);
  EXPECT_EQ(chosen(facts_of(StorageKind::kUnknown, 100 * kGiB, 0)), Reading::kDirect);
  ReadingFacts unknown = facts_of(StorageKind::kSsd, kGiB, 0);
  unknown.available_memory_bytes.reset();
  EXPECT_EQ(chosen(unknown), Reading::kDirect);
}

TEST(ReadingChoice, WhatFitsOrIsThereAlreadyIsMapped) {
  EXPECT_EQ(chosen(facts_of(StorageKind::kSsd, 12 * kGiB, 0)), Reading::kMapped);
  EXPECT_EQ(chosen(facts_of(StorageKind::kSsd, 13 * kGiB, 0)), Reading::kDirect);
  EXPECT_EQ(chosen(facts_of(StorageKind::kSsd, 24 * kGiB, 0.6)), Reading::kMapped);
  EXPECT_EQ(chosen(facts_of(StorageKind::kMemory, 100 * kGiB, 0)), Reading::kMapped);
}

TEST(ReadingChoice, OrdersThatThePageCacheServesAreMapped) {
  const ReadingFacts facts = facts_of(StorageKind::kSsd, 100 * kGiB, 0);
  EXPECT_EQ(chosen(facts, {.shuffle = Shuffle::kWindow}), Reading::kMapped);
  EXPECT_EQ(chosen(facts, {.shuffle = Shuffle::kNone}), Reading::kMapped);
  EXPECT_EQ(chosen(facts, {.crop_frames = 32}), Reading::kMapped);
}

TEST(ReadingChoice, SeekingStorageIsMappedAndTheNoticeNamesTheWindow) {
  for (const StorageKind kind : {StorageKind::kRotating, StorageKind::kNetwork}) {
    const ReadingFacts cold = facts_of(kind, 100 * kGiB, 0);
    const ReadingChoice global = choose_reading(cold, {});
    EXPECT_EQ(global.reading, Reading::kMapped);
    EXPECT_NE(global.notice.find("shuffle window"), std::string::npos);
    EXPECT_EQ(choose_reading(cold, {.shuffle = Shuffle::kWindow}).notice, "");
    EXPECT_EQ(choose_reading(facts_of(kind, kGiB, 1), {}).notice, "");
  }
  EXPECT_EQ(choose_reading(facts_of(StorageKind::kUnknown, 100 * kGiB, 0), {}).notice, "");
}

TEST(ReadingChoice, WhatWasAskedForIsDone) {
  const ReadingFacts small = facts_of(StorageKind::kSsd, kGiB, 1);
  EXPECT_EQ(chosen(small, {.reading = Reading::kDirect}), Reading::kDirect);
  const ReadingFacts large = facts_of(StorageKind::kSsd, 100 * kGiB, 0);
  EXPECT_EQ(chosen(large, {.reading = Reading::kMapped}), Reading::kMapped);
}

TEST(ReadingChoice, FallingBackSaysWhyInTheNotice) {
  const ReadingChoice choice =
      fall_back(choose_reading(facts_of(StorageKind::kSsd, 100 * kGiB, 0), {}),
                Status(StatusCode::kUnsupported, "io_uring is forbidden here"));
  EXPECT_EQ(choice.reading, Reading::kMapped);
  EXPECT_NE(choice.notice.find("io_uring is forbidden here"), std::string::npos);
  EXPECT_NE(choice.why.find("io_uring is forbidden here"), std::string::npos);
}

TEST(ReadingChoice, StorageIsToldInWords) {
  EXPECT_EQ(storage_in_words(facts_of(StorageKind::kSsd, 77 * kGiB, 0.034)),
            "ext4 on sda1 (SSD), 77.0 GiB, 3 % of it in memory");
  EXPECT_EQ(storage_in_words({.file_bytes = 512}),
            "a file system unknown here (storage of unknown kind), 512 B");
}

}  // namespace
}  // namespace xtts::loader
