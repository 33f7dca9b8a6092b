#include "formats/facts.hpp"
#include "tests/unit/formats/refusal.hpp"

namespace xtts::formats {
namespace {

constexpr auto kCorrupt = StatusCode::kCorrupt;

BlockFacts example() {
  BlockFacts facts;
  facts.block_index = 3;
  facts.records.resize(2);
  facts.records[0].id = "a";
  facts.records[1].id = "bc";
  facts.summed_frame_count = 11;
  facts.sums = {1.5, -2.0, 4.0, 8.0};
  return facts;
}

Status decoded(const std::string& bytes) {
  return decode_block_facts(bytes_of(bytes)).status();
}

TEST(BlockFacts, ComeBackAsTheyWereWritten) {
  const BlockFacts facts = example();
  const std::string bytes = encode_block_facts(facts);
  const auto read = decode_block_facts(bytes_of(bytes));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->block_index, 3U);
  EXPECT_EQ(read->records, facts.records);
  EXPECT_EQ(read->summed_frame_count, 11U);
  EXPECT_EQ(read->sums, facts.sums);
}

TEST(BlockFacts, FillPagesLess16Bytes) {
  BlockFacts facts = example();
  EXPECT_EQ(encode_block_facts(facts).size(), 4080U);
  facts.records[0].text_raw = std::string(4096 * 3, 't');
  EXPECT_EQ(encode_block_facts(facts).size(), 4U * 4096 - 16);
}

// The largest text that still fits in one page, and one byte more.
TEST(BlockFacts, TakeAnotherPageOnlyWhenTheyMust) {
  BlockFacts facts;
  facts.records.resize(1);
  const std::size_t overhead =
      64 + 8 + 8 + 8;  // fixed part, two offsets, a field's header, the check
  facts.records[0].id = std::string(4080 - overhead, 'i');
  EXPECT_EQ(encode_block_facts(facts).size(), 4080U);
  facts.records[0].id->push_back('i');
  EXPECT_EQ(encode_block_facts(facts).size(), 2U * 4096 - 16);
  EXPECT_TRUE(decoded(encode_block_facts(facts)).ok());
}

TEST(BlockFacts, AnyBitTurnedIsFound) {
  const std::string bytes = encode_block_facts(example());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    ASSERT_EQ(decoded(flipped(bytes, bit)).code(), kCorrupt) << "bit " << bit;
  }
}

TEST(BlockFacts, TheStoredCheckIsTheLastEightBytes) {
  const std::string bytes = encode_block_facts(example());
  EXPECT_EQ(stored_facts_check(bytes_of(bytes)), check64(bytes_of(bytes).first(4072)));
}

TEST(BlockFacts, RefuseAnotherSize) {
  const std::string bytes = encode_block_facts(example());
  expect_refused(decoded(""), kCorrupt, "size");
  expect_refused(decoded(bytes + std::string(16, '\0')), kCorrupt, "size");
}

TEST(BlockFacts, RefuseAnotherMagicVersionOrByteOrder) {
  const std::string bytes = encode_block_facts(example());
  expect_refused(decoded(patched(bytes, 0, 'Y')), kCorrupt, "magic");
  expect_refused(decoded(patched<std::uint16_t>(bytes, 8, 9)), StatusCode::kUnsupported,
                 "version 9");
  expect_refused(decoded(patched(bytes, 12, 0U)), kCorrupt, "byte-order mark");
  expect_refused(decoded(patched(bytes, 24, 1U)), StatusCode::kUnsupported, "incompat bit 0");
}

TEST(BlockFacts, RefuseARecordCountOutside1To64) {
  const std::string bytes = encode_block_facts(example());
  expect_refused(decoded(patched<std::uint16_t>(bytes, 10, 0)), kCorrupt, "records, 0");
  expect_refused(decoded(patched<std::uint16_t>(bytes, 10, 65)), kCorrupt, "records, 65");
}

TEST(BlockFacts, RefuseAnOddNumberOfSums) {
  expect_refused(decoded(patched(encode_block_facts(example()), 32, 3U)), kCorrupt,
                 "number of sums");
}

TEST(BlockFacts, RefuseSumsOutsideTheValue) {
  const std::string bytes = encode_block_facts(example());
  expect_refused(decoded(patched(bytes, 32, 0xFFFFFFFEU)), kCorrupt, "sums do not lie");
  expect_refused(decoded(patched(bytes, 36, 0xFFFFFFF8U)), kCorrupt, "sums do not lie");
  expect_refused(decoded(patched(bytes, 36, 4072U)), kCorrupt, "sums do not lie");  // on the check
}

TEST(BlockFacts, RefuseSumsOffAMultipleOf8) {
  expect_refused(decoded(patched(encode_block_facts(example()), 36, 100U)), kCorrupt,
                 "multiple of 8");
}

TEST(BlockFacts, RefuseOffsetsThatDoNotBeginBehindTheTable) {
  expect_refused(decoded(patched(encode_block_facts(example()), 64, 64U)), kCorrupt,
                 "offsets do not begin");
}

TEST(BlockFacts, RefuseOffsetsThatDescendOrLeaveTheValue) {
  const std::string bytes = encode_block_facts(example());
  expect_refused(decoded(patched(bytes, 68, 10U)), kCorrupt, "offsets of record 0");
  expect_refused(decoded(patched(bytes, 72, 0xFFFFFFFFU)), kCorrupt, "offsets of record 1");
}

TEST(BlockFacts, SayWhichRecordIsWrong) {
  const std::string bytes = encode_block_facts(example());
  // Record 1 begins behind three offsets and the 9 bytes of record 0; its tag becomes a source rate
  // of two bytes.
  expect_refused(decoded(patched<std::uint16_t>(bytes, 64 + 12 + 9, 13)), kCorrupt,
                 "record 1: facts: source rate");
}

}  // namespace
}  // namespace xtts::formats
