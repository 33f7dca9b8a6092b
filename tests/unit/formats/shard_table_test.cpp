#include "formats/shard_table.hpp"

#include "tests/unit/formats/refusal.hpp"

namespace xtts::formats {
namespace {

constexpr auto kCorrupt = StatusCode::kCorrupt;

// Two blocks of two payload pages each behind three pages of LMDB's, as an image lies on disk.
ShardTable example() {
  const std::uint64_t page = 4096;
  ShardTable table;
  table.file_bytes = 12 * page;
  table.structure_check = 99;
  table.blocks.push_back({3 * page + 16, 4 * page, 8000, 9 * page + 16, 4080, 1, 2, 32});
  table.blocks.push_back({6 * page + 16, 7 * page, 8192, 10 * page + 16, 4080, 3, 4, 7});
  return table;
}

Status with(std::uint64_t BlockPlace::*member, std::uint64_t value) {
  ShardTable table = example();
  table.blocks[1].*member = value;
  return table.validate(StoreKind::kLmdb);
}

// Two blocks in datasets: payloads from 16,384 on, then headers, then facts, nothing on a page.
ShardTable hdf5_example() {
  ShardTable table;
  table.file_bytes = 60'000;
  table.structure_check = 99;
  table.blocks.push_back({26'384, 16'384, 8000, 34'544, 4080, 1, 2, 32});
  table.blocks.push_back({30'464, 24'384, 2000, 38'624, 8176, 3, 4, 7});
  return table;
}

Status hdf5_with(std::size_t block, std::uint64_t BlockPlace::*member, std::uint64_t value) {
  ShardTable table = hdf5_example();
  table.blocks[block].*member = value;
  return table.validate(StoreKind::kHdf5);
}

TEST(ShardTable, TheDigestIsOfTheBytesThatTheDocumentLists) {
  const ShardTable table = example();
  std::string bytes = "XTTSSHD1";
  for (const std::uint64_t value : {49152, 99}) append(bytes, value);
  append(bytes, std::uint32_t{2});
  append(bytes, std::uint32_t{0});
  for (const std::uint64_t value : {12304, 16384, 8000, 36880, 4080, 1, 2}) append(bytes, value);
  for (const std::uint64_t value : {24592, 28672, 8192, 40976, 4080, 3, 4}) append(bytes, value);
  EXPECT_EQ(table.digest(), digest128(bytes));
}

TEST(ShardTable, TheRecordCountIsNotInTheDigest) {
  ShardTable table = example();
  const Digest digest = table.digest();
  table.blocks[0].record_count = 1;
  EXPECT_EQ(table.digest(), digest);
}

TEST(ShardTable, StructureIsWhatNothingElseCovers) {
  const ShardTable table = example();
  ASSERT_TRUE(table.validate(StoreKind::kLmdb).ok()) << table.validate(StoreKind::kLmdb).message();
  std::uint64_t bytes = 0;
  std::uint64_t end = 0;
  for (const ByteRange& range : structure_ranges(table)) {
    EXPECT_GE(range.offset_bytes, end);
    EXPECT_GT(range.size_bytes, 0U);
    end = range.offset_bytes + range.size_bytes;
    bytes += range.size_bytes;
  }
  EXPECT_EQ(end, table.file_bytes);
  EXPECT_EQ(bytes, table.file_bytes - 4 * 4080 - 8000 - 8192);
}

TEST(ShardTable, AShardWithoutBlocksIsAllStructure) {
  ShardTable table;
  table.file_bytes = 8192;
  ASSERT_TRUE(table.validate(StoreKind::kLmdb).ok());
  const auto ranges = structure_ranges(table);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].size_bytes, 8192U);
}

TEST(ShardTable, RefusesAHeaderOutsideTheFile) {
  expect_refused(with(&BlockPlace::header_offset, 12 * 4096 - 4079), kCorrupt, "block 1: header");
  expect_refused(with(&BlockPlace::header_offset, UINT64_MAX), kCorrupt, "block 1: header");
}

TEST(ShardTable, RefusesAPayloadOutsideTheFile) {
  expect_refused(with(&BlockPlace::payload_bytes, UINT64_MAX - 10), kCorrupt, "block 1: payload");
  expect_refused(with(&BlockPlace::payload_offset, 13 * 4096), kCorrupt, "block 1: payload");
}

TEST(ShardTable, RefusesAPayloadOffAPageBoundary) {
  expect_refused(with(&BlockPlace::payload_offset, 7 * 4096 + 16), kCorrupt, "page boundary");
}

TEST(ShardTable, RefusesFactsOutsideTheFile) {
  expect_refused(with(&BlockPlace::facts_offset, UINT64_MAX - 100), kCorrupt, "block 1: facts");
}

TEST(ShardTable, RefusesFactsThatDoNotFillPages) {
  expect_refused(with(&BlockPlace::facts_bytes, 4096), kCorrupt, "block 1: facts");
  expect_refused(with(&BlockPlace::facts_bytes, 0), kCorrupt, "block 1: facts");
}

TEST(ShardTable, RefusesRegionsThatOverlap) {
  expect_refused(with(&BlockPlace::header_offset, 5 * 4096), kCorrupt, "overlap");
  expect_refused(with(&BlockPlace::facts_offset, 9 * 4096 + 16), kCorrupt, "overlap");
}

TEST(ShardTable, OfAnHdf5ShardNeedsNoPages) {
  EXPECT_TRUE(hdf5_example().validate(StoreKind::kHdf5).ok());
  expect_refused(hdf5_example().validate(StoreKind::kLmdb), kCorrupt, "page boundary");
}

TEST(ShardTable, OfAnHdf5ShardHasItsPayloadsInARow) {
  expect_refused(example().validate(StoreKind::kHdf5), kCorrupt, "does not follow");
  expect_refused(hdf5_with(0, &BlockPlace::payload_offset, 16'385), kCorrupt, "block 0: payload");
  expect_refused(hdf5_with(0, &BlockPlace::payload_bytes, 7999), kCorrupt, "block 1: payload");
  expect_refused(hdf5_with(1, &BlockPlace::payload_offset, 24'385), kCorrupt, "block 1: payload");
}

TEST(ShardTable, OfAnHdf5ShardHasItsHeadersAndFactsInARow) {
  expect_refused(hdf5_with(1, &BlockPlace::header_offset, 30'465), kCorrupt, "block 1: header");
  expect_refused(hdf5_with(0, &BlockPlace::header_offset, 26'385), kCorrupt, "block 1: header");
  expect_refused(hdf5_with(1, &BlockPlace::facts_offset, 38'625), kCorrupt, "block 1: facts");
  expect_refused(hdf5_with(1, &BlockPlace::facts_bytes, 8177), kCorrupt, "block 1: facts");
}

TEST(ShardTable, OfAnHdf5ShardRefusesRegionsThatOverlap) {
  ShardTable table = hdf5_example();
  for (BlockPlace& block : table.blocks) block.header_offset -= 1;
  expect_refused(table.validate(StoreKind::kHdf5), kCorrupt, "overlap");
}

}  // namespace
}  // namespace xtts::formats
