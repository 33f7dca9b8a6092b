#include "formats/index.hpp"

#include "tests/unit/formats/refusal.hpp"

namespace xtts::formats {
namespace {

constexpr auto kCorrupt = StatusCode::kCorrupt;
constexpr std::size_t kFirstSection = 128;
constexpr std::size_t kSecondSection = 168;

// Three plan rows, then 100 bytes of rejects in two lines: 64 * 4 bytes of data, one chunk.
IndexFooter example() {
  IndexFooter footer;
  footer.generation = 2;
  footer.data_bytes = 256;
  footer.chunk_count = 1;
  footer.chunk_table_check = 77;
  footer.record_count = 3;
  footer.file_bytes = 256 + 8 + 4096;
  footer.sections.push_back({SectionKind::kPlan, 0, 0, 96, 3});
  footer.sections.push_back({SectionKind::kRejects, 0, 128, 100, 2});
  return footer;
}

std::string encoded() {
  return encode_index_footer(example());
}

Status decoded(const std::string& bytes) {
  return decode_index_footer(bytes_of(bytes), example().file_bytes).status();
}

TEST(IndexFooter, ComesBackAsItWasWritten) {
  const std::string bytes = encoded();
  const auto read = decode_index_footer(bytes_of(bytes), example().file_bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->generation, 2U);
  EXPECT_EQ(read->record_count, 3U);
  EXPECT_EQ(read->chunk_table_check, 77U);
  ASSERT_NE(read->find(SectionKind::kRejects), nullptr);
  EXPECT_EQ(read->find(SectionKind::kRejects)->offset_bytes, 128U);
  EXPECT_EQ(read->find(SectionKind::kRejects)->row_count, 2U);
  EXPECT_EQ(read->find(SectionKind::kPlan, 1), nullptr);
  EXPECT_EQ(encode_index_footer(*read), bytes);
}

TEST(IndexFooter, AnyBitTurnedIsFound) {
  const std::string bytes = encoded();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    ASSERT_EQ(decoded(flipped(bytes, bit)).code(), kCorrupt) << "bit " << bit;
  }
}

TEST(IndexFooter, RefusesAnotherSize) {
  expect_refused(decoded(encoded().substr(1)), kCorrupt, "size");
  expect_refused(decoded(""), kCorrupt, "size");
}

TEST(IndexFooter, RefusesAnotherMagicVersionByteOrderOrIncompatBit) {
  expect_refused(decoded(patched(encoded(), 0, 'Y')), kCorrupt, "magic");
  expect_refused(decoded(patched<std::uint16_t>(encoded(), 8, 3)), StatusCode::kUnsupported,
                 "version 3");
  expect_refused(decoded(patched(encoded(), 12, 0U)), kCorrupt, "byte-order mark");
  expect_refused(decoded(patched(encoded(), 24, 4U)), StatusCode::kUnsupported, "incompat bit 2");
}

TEST(IndexFooter, RefusesOtherChunks) {
  expect_refused(decoded(patched(encoded(), 28, 4096U)), kCorrupt, "chunk bytes");
  expect_refused(decoded(patched(encoded(), 56, std::uint64_t{2})), kCorrupt, "number of chunks");
}

TEST(IndexFooter, RefusesGenerationZero) {
  expect_refused(decoded(patched(encoded(), 32, std::uint64_t{0})), kCorrupt, "generation");
}

TEST(IndexFooter, RefusesAFileOfAnotherSize) {
  expect_refused(decode_index_footer(bytes_of(encoded()), 4360 + 64).status(), kCorrupt,
                 "file bytes");
  expect_refused(decoded(patched(encoded(), 40, std::uint64_t{4361})), kCorrupt, "file bytes");
}

TEST(IndexFooter, RefusesDataBytesThatDoNotFitTheFile) {
  expect_refused(decoded(patched(encoded(), 48, UINT64_MAX - 63)), kCorrupt,
                 "bytes before the chunk checks");
  expect_refused(decoded(patched(encoded(), 48, std::uint64_t{250})), kCorrupt, "multiple of 64");
  expect_refused(decoded(patched(encoded(), 48, std::uint64_t{192})), kCorrupt,
                 "file bytes are not those");
}

TEST(IndexFooter, RefusesMoreThan64Sections) {
  expect_refused(decoded(patched(encoded(), 80, 65U)), kCorrupt, "number of sections");
}

TEST(IndexFooter, RefusesASectionOffAMultipleOf64) {
  expect_refused(decoded(patched(encoded(), kSecondSection + 8, std::uint64_t{100})), kCorrupt,
                 "offset is no multiple of 64");
}

TEST(IndexFooter, RefusesASectionWithinTheOneBefore) {
  expect_refused(decoded(patched(encoded(), kSecondSection + 8, std::uint64_t{64})), kCorrupt,
                 "section before");
}

TEST(IndexFooter, RefusesASectionOutsideTheData) {
  expect_refused(decoded(patched(encoded(), kSecondSection + 16, std::uint64_t{129})), kCorrupt,
                 "outside the data");
  expect_refused(decoded(patched(encoded(), kSecondSection + 16, UINT64_MAX)), kCorrupt,
                 "outside the data");
}

TEST(IndexFooter, RefusesRowsThatDoNotFillTheirSection) {
  expect_refused(decoded(patched(encoded(), kFirstSection + 24, std::uint64_t{2})), kCorrupt,
                 "rows");
  // 2^59 + 3 rows of 32 bytes would wrap to the right size.
  expect_refused(decoded(patched(encoded(), kFirstSection + 24, (std::uint64_t{1} << 59U) + 3)),
                 kCorrupt, "rows do not fill");
}

TEST(IndexFooter, RefusesMoreRowsThanBytes) {
  expect_refused(decoded(patched(encoded(), kSecondSection + 24, std::uint64_t{101})), kCorrupt,
                 "more rows");
}

TEST(IndexFooter, RefusesAPlanOfOtherThanAllRecords) {
  expect_refused(decoded(patched(encoded(), 72, std::uint64_t{4})), kCorrupt, "as many as records");
}

TEST(IndexFooter, RefusesASectionThatIsThereTwice) {
  IndexFooter footer = example();
  footer.sections[1] = {SectionKind::kPlan, 0, 128, 96, 3};
  expect_refused(decoded(encode_index_footer(footer)), kCorrupt, "twice");
}

TEST(IndexFooter, PassesOverSectionsOfAnUnknownKind) {
  const std::string bytes = patched(encoded(), kSecondSection, 1000U);
  EXPECT_TRUE(decoded(bytes).ok()) << decoded(bytes).message();
}

TEST(IndexRows, HaveTheSizesOfTheDocument) {
  const auto size_of = [](const auto& row) {
    std::string out;
    append_row(row, out);
    return out.size();
  };
  EXPECT_EQ(size_of(PlanRow()), kPlanRowBytes);
  EXPECT_EQ(size_of(LocationRow()), kLocationRowBytes);
  EXPECT_EQ(size_of(IdHashRow()), kIdHashRowBytes);
  EXPECT_EQ(size_of(BlockRow()), kBlockRowBytes);
  EXPECT_EQ(size_of(TombstoneRow()), kTombstoneRowBytes);
}

TEST(IndexRows, APlanRowInKnownBytes) {
  std::string out;
  append_row(PlanRow{800, 17, -1, -2, 3, 1, kPlanTextCut | kPlanWarnings, 0x0102030405060708, 9},
             out);
  EXPECT_EQ(out, std::string("\x20\x03\0\0\x11\0\0\0\xFF\xFF\xFF\xFF\xFE\xFF\x03\0\x01\x05\0\0"
                             "\x08\x07\x06\x05\x04\x03\x02\x01\x09\0\0\0",
                             32));
  const PlanRow row = decode_plan_row(bytes_of(out));
  EXPECT_EQ(row.mel_len, 800U);
  EXPECT_EQ(row.text_len, 17U);
  EXPECT_EQ(row.speaker, -1);
  EXPECT_EQ(row.language, -2);
  EXPECT_EQ(row.dataset, 3U);
  EXPECT_EQ(row.split, 1U);
  EXPECT_EQ(row.flags, 5U);
  EXPECT_EQ(row.details_offset, 0x0102030405060708U);
  EXPECT_EQ(row.details_bytes, 9U);
}

TEST(IndexRows, TheOthersComeBack) {
  std::string out;
  append_row(LocationRow{7, 63}, out);
  EXPECT_EQ(decode_location_row(bytes_of(out)).block_row, 7U);
  EXPECT_EQ(decode_location_row(bytes_of(out)).slot, 63U);
  out.clear();
  append_row(IdHashRow{{1, 2}, 3}, out);
  EXPECT_EQ(decode_id_hash_row(bytes_of(out)).hash, (Digest{1, 2}));
  EXPECT_EQ(decode_id_hash_row(bytes_of(out)).position, 3U);
  out.clear();
  append_row(TombstoneRow{1, 2, 3}, out);
  EXPECT_EQ(decode_tombstone_row(bytes_of(out)).column_id, 1U);
  EXPECT_EQ(decode_tombstone_row(bytes_of(out)).block_row, 2U);
  EXPECT_EQ(decode_tombstone_row(bytes_of(out)).slot, 3U);
  out.clear();
  const BlockPlace place{1, 2, 3, 4, 5, 6, 7, 8};
  append_row(BlockRow{place, 9}, out);
  EXPECT_EQ(decode_block_row(bytes_of(out)).place, place);
  EXPECT_EQ(decode_block_row(bytes_of(out)).shard, 9U);
}

}  // namespace
}  // namespace xtts::formats
