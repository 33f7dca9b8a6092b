// Tests of what crosses the bus: each byte is copied, filled or changed, and no byte twice.
#include "device/upload_plan.hpp"

#include <gtest/gtest.h>

#include <random>

namespace xtts::device {
namespace {

constexpr std::size_t kBridgedBytesMax = kBridgedByCallsMax;
constexpr Pattern kZero{.bits = 0, .element_bytes = 4};

std::vector<CopiedRange> copies_of(std::size_t staging_bytes, std::vector<FilledRange> filled,
                                   std::vector<ChangedRange> changed = {},
                                   std::vector<BorrowedRange> borrowed = {}) {
  return plan_copies({.staging = staging_bytes}, kBridgedBytesMax, filled, changed, borrowed);
}

TEST(UploadPlan, ABatchWithoutPaddingIsOneCopy) {
  const auto copies = copies_of(1000, {});
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].offset_bytes, 0U);
  EXPECT_EQ(copies[0].size_bytes, 1000U);
  EXPECT_TRUE(copies_of(0, {}).empty());
}

TEST(UploadPlan, LargePaddingDoesNotCrossTheBus) {
  const std::size_t large = kBridgedBytesMax + 4;
  const auto copies = copies_of(100 + large + 50, {{100, large, kZero}});
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].size_bytes, 100U);
  EXPECT_EQ(copies[1].offset_bytes, 100 + large);
  EXPECT_EQ(copies[1].size_bytes, 50U);
}

TEST(UploadPlan, SmallPaddingIsBridgedButNeverAtTheEnds) {
  const auto copies = copies_of(1000, {{0, 40, kZero}, {500, 100, kZero}, {960, 40, kZero}});
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].offset_bytes, 40U);
  EXPECT_EQ(copies[0].size_bytes, 920U);
}

TEST(UploadPlan, ChangedValuesAreNotBridged) {
  const Change widen{.from = DType::kFloat16, .to = DType::kFloat32};
  const auto copies = copies_of(1000, {}, {{400, 8, widen}});
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].size_bytes, 400U);
  EXPECT_EQ(copies[1].offset_bytes, 408U);
  EXPECT_EQ((ChangedRange{400, 8, widen}).stored_bytes(), 4U);
}

TEST(UploadPlan, WhatTheHostReadsJoinsTheLastPiece) {
  const SlotBytes size{.staging = 5000, .host = 100};
  std::vector<ChangedRange> changed;
  std::vector<BorrowedRange> borrowed;
  std::vector<FilledRange> short_end{{4800, 200, kZero}};
  const auto one = plan_copies(size, 8192, short_end, changed, borrowed);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].offset_bytes, 0U);
  EXPECT_EQ(one[0].size_bytes, 8292U);
  std::vector<FilledRange> long_end{{100, 4900, kZero}};
  const auto two = plan_copies(size, 4096, long_end, changed, borrowed);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].size_bytes, 100U);
  EXPECT_EQ(two[1].offset_bytes, 8192U);
  EXPECT_EQ(two[1].size_bytes, 100U);
}

// Against the obvious way: a map of all bytes.
TEST(UploadPlan, EveryByteOfDataIsCopiedOnce) {
  std::mt19937 random(27);
  const std::vector<std::byte> memory(80'000);
  const std::span<const std::byte> bytes = memory;
  const auto below = [&](std::size_t end) { return std::size_t{random()} % end; };
  for (int round = 0; round < 60; ++round) {
    std::vector<FilledRange> filled;
    std::vector<ChangedRange> changed;
    std::vector<BorrowedRange> borrowed;
    enum class Kind : char { kData, kFilled, kChanged, kBorrowed, kChangedAndBorrowed };
    std::vector<Kind> kinds;
    while (kinds.size() < 200'000 && below(20) != 0) {
      const std::size_t size = 4 * (1 + below(below(4) == 0 ? 20'000 : 50));
      const std::size_t begin = kinds.size();
      const auto kind = static_cast<Kind>(below(5));
      kinds.resize(begin + size, kind);
      if (kind == Kind::kFilled) filled.push_back({begin, size, kZero});
      if (kind == Kind::kChanged || kind == Kind::kChangedAndBorrowed) {
        changed.push_back({begin, size, {}});
      }
      // A changed range is borrowed as it is stored, which may be shorter.
      const std::size_t stored = kind == Kind::kChangedAndBorrowed ? size / 2 : size;
      if (kind == Kind::kBorrowed || kind == Kind::kChangedAndBorrowed) {
        borrowed.push_back({begin, bytes.first(stored)});
      }
    }
    std::shuffle(filled.begin(), filled.end(), random);
    std::shuffle(borrowed.begin(), borrowed.end(), random);
    // The numbers that the host reads are data, too, on the page behind all that.
    const SlotBytes size{.staging = kinds.size(), .host = 8 * below(4)};
    kinds.resize(host_offset_bytes(size), Kind::kFilled);
    kinds.resize(kinds.size() + size.host, Kind::kData);
    std::vector<int> count(kinds.size(), 0);
    for (const CopiedRange& range : plan_copies(size, below(100'000), filled, changed, borrowed)) {
      ASSERT_LE(range.offset_bytes + range.size_bytes, kinds.size());
      for (std::size_t i = 0; i < range.size_bytes; ++i) ++count[range.offset_bytes + i];
    }
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      ASSERT_EQ(count[i], kinds[i] == Kind::kData     ? 1
                          : kinds[i] != Kind::kFilled ? 0
                                                      : count[i])
          << i;
      ASSERT_LE(count[i], 1) << i;
    }
  }
}

}  // namespace
}  // namespace xtts::device
