#include "formats/block.hpp"

#include "formats/clip_id.hpp"
#include "tests/unit/formats/refusal.hpp"

namespace xtts::formats {
namespace {

constexpr auto kCorrupt = StatusCode::kCorrupt;
constexpr auto kUnsupported = StatusCode::kUnsupported;

BlockHeader example(Layout layout = Layout::kPadded) {
  BlockHeader header;
  header.column = {"mel", 2, DType::kFloat32, {800, 80}, layout, {1, 2}, {3, 4}};
  header.block_index = 5;
  header.generation = 6;
  for (const std::uint32_t length : {800U, 1U, 37U}) {
    const std::string id = "clip" + std::to_string(length);
    header.records.push_back({id_hash("", id), 0, length, 0x3F800000, 0x1111 * length});
  }
  header.payload_bytes = lay_out_records(header.column, header.records);
  return header;
}

std::string encoded(const BlockHeader& header) {
  return std::string(text_of(encode_block_header(header)));
}

Status decoded(const std::string& bytes) {
  return decode_block_header(bytes_of(bytes)).status();
}

TEST(BlockHeader, ComesBackAsItWasWritten) {
  for (const Layout layout : {Layout::kPadded, Layout::kPacked}) {
    const BlockHeader header = example(layout);
    const std::string bytes = encoded(header);
    const auto read = decode_block_header(bytes_of(bytes));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->column.name, "mel");
    EXPECT_EQ(read->column.id, 2U);
    EXPECT_EQ(read->column.dtype, DType::kFloat32);
    EXPECT_EQ(read->column.shape, (std::vector<std::uint32_t>{800, 80}));
    EXPECT_EQ(read->column.layout, layout);
    EXPECT_EQ(read->column.fingerprint, (Digest{1, 2}));
    EXPECT_EQ(read->column.numerics, (Digest{3, 4}));
    EXPECT_EQ(read->block_index, 5U);
    EXPECT_EQ(read->generation, 6U);
    EXPECT_EQ(read->payload_bytes, header.payload_bytes);
    ASSERT_EQ(read->records.size(), 3U);
    EXPECT_EQ(read->records[2].id_hash, id_hash("", "clip37"));
    EXPECT_EQ(read->records[2].length, 37U);
    EXPECT_EQ(read->records[2].fill_bits, 0x3F800000U);
    EXPECT_EQ(read->records[2].check, 0x1111U * 37);
    EXPECT_EQ(encoded(*read), bytes);
  }
}

TEST(BlockHeader, PaddedRecordsFollowOneAnotherWithoutGaps) {
  const BlockHeader header = example();
  EXPECT_EQ(header.records[1].offset_bytes, 256000U);
  EXPECT_EQ(header.payload_bytes, 768000U);
  EXPECT_EQ(header.region_bytes(1), 256000U);
}

TEST(BlockHeader, PackedRecordsBeginAtMultiplesOf64) {
  BlockHeader header;
  header.column = {"bytes", 0, DType::kUInt8, {100}, Layout::kPacked, {}, {}};
  for (const std::uint32_t length : {64U, 65U, 0U, 1U})
    header.records.push_back({{}, 0, length, 0, 0});
  header.payload_bytes = lay_out_records(header.column, header.records);
  EXPECT_EQ(header.records[1].offset_bytes, 64U);
  EXPECT_EQ(header.records[2].offset_bytes, 192U);
  EXPECT_EQ(header.records[3].offset_bytes, 192U);
  EXPECT_EQ(header.payload_bytes, 256U);
  EXPECT_EQ(header.region_bytes(1), 128U);
  EXPECT_EQ(header.region_bytes(2), 0U);
  EXPECT_TRUE(decoded(encoded(header)).ok());
}

TEST(BlockHeader, TheIdHashIsOfTheFullId) {
  EXPECT_EQ(id_hash("", "a/b"), digest128(std::string_view("a/b")));
  EXPECT_EQ(id_hash("a", "b"), digest128(std::string_view("a/b")));
}

TEST(BlockHeader, AnyBitTurnedIsFound) {
  const std::string bytes = encoded(example());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    ASSERT_EQ(decoded(flipped(bytes, bit)).code(), kCorrupt) << "bit " << bit;
  }
}

TEST(BlockHeader, TheStoredCheckIsItsLastEightBytes) {
  const std::string bytes = encoded(example());
  EXPECT_EQ(stored_header_check(bytes_of(bytes)), check64(bytes_of(bytes).first(4072)));
}

TEST(BlockHeader, RefusesAnotherSize) {
  const std::string bytes = encoded(example());
  expect_refused(decoded(bytes.substr(0, 4079)), kCorrupt, "size");
  expect_refused(decoded(bytes + '\0'), kCorrupt, "size");
  expect_refused(decoded(""), kCorrupt, "size");
}

TEST(BlockHeader, RefusesAnotherMagic) {
  expect_refused(decoded(patched(encoded(example()), 7, '2')), kCorrupt, "magic");
}

TEST(BlockHeader, RefusesANewerVersionByItsNumber) {
  expect_refused(decoded(patched<std::uint16_t>(encoded(example()), 8, 2)), kUnsupported,
                 "version 2");
  expect_refused(decoded(patched<std::uint16_t>(encoded(example()), 8, 0)), kCorrupt, "version 0");
}

TEST(BlockHeader, RefusesAnotherHeaderSize) {
  expect_refused(decoded(patched<std::uint16_t>(encoded(example()), 10, 4096)), kCorrupt,
                 "header bytes");
}

TEST(BlockHeader, RefusesAnotherByteOrder) {
  expect_refused(decoded(patched(encoded(example()), 12, 0x04030201U)), kCorrupt,
                 "byte-order mark");
}

TEST(BlockHeader, IgnoresUnknownCompatBits) {
  EXPECT_TRUE(decoded(patched(encoded(example()), 16, 0x80U)).ok());
  EXPECT_TRUE(
      decoded(patched(encoded(example()), 20, 0x80U)).ok());  // forbids changes, not reading
}

TEST(BlockHeader, RefusesAnUnknownIncompatBitByItsNumber) {
  expect_refused(decoded(patched(encoded(example()), 24, 0x80U)), kUnsupported, "incompat bit 7");
}

TEST(BlockHeader, RefusesAnotherPageSize) {
  expect_refused(decoded(patched(encoded(example()), 28, 65536U)), kUnsupported, "page bytes");
}

TEST(BlockHeader, RefusesUnknownAlgorithms) {
  expect_refused(decoded(patched<std::uint8_t>(encoded(example()), 32, 2)), kUnsupported,
                 "check algorithm 2");
  expect_refused(decoded(patched<std::uint8_t>(encoded(example()), 33, 9)), kUnsupported,
                 "digest algorithm 9");
}

TEST(BlockHeader, RefusesAnUnknownLayout) {
  expect_refused(decoded(patched<std::uint8_t>(encoded(example()), 34, 3)), kCorrupt, "layout 3");
}

TEST(BlockHeader, RefusesARankOutsideOneToFour) {
  expect_refused(decoded(patched<std::uint8_t>(encoded(example()), 35, 0)), kCorrupt, "rank 0");
  expect_refused(decoded(patched<std::uint8_t>(encoded(example()), 35, 5)), kCorrupt, "rank 5");
}

TEST(BlockHeader, RefusesAnUnknownDtype) {
  expect_refused(decoded(patched<std::uint16_t>(encoded(example()), 36, 8)), kCorrupt, "dtype 8");
}

TEST(BlockHeader, RefusesARecordCountOutsideOneToK) {
  expect_refused(decoded(patched<std::uint16_t>(encoded(example()), 38, 0)), kCorrupt,
                 "records in this block");
  expect_refused(decoded(patched<std::uint16_t>(encoded(example()), 38, 33)), kCorrupt,
                 "records in this block");
}

TEST(BlockHeader, RefusesAKThatTheFormatDoesNotGive) {
  expect_refused(decoded(patched(encoded(example()), 40, 64U)), kCorrupt,
                 "records per block are not 32");
}

TEST(BlockHeader, RefusesAShapeWithAnEmptyAxis) {
  expect_refused(decoded(patched(encoded(example()), 48, 0U)), kCorrupt, "shape");
}

TEST(BlockHeader, RefusesAShapeInAnUnusedAxis) {
  expect_refused(decoded(patched(encoded(example()), 56, 1U)), kCorrupt, "unused axis 2");
}

TEST(BlockHeader, RefusesARecordLargerThanTheFormatAllows) {
  expect_refused(decoded(patched(encoded(example()), 48, 0xFFFFFFFFU)), kCorrupt, "128 MiB");
}

TEST(BlockHeader, RefusesAnotherStride) {
  expect_refused(decoded(patched(encoded(example()), 64, std::uint64_t{256064})), kCorrupt,
                 "stride");
  expect_refused(decoded(patched(encoded(example(Layout::kPacked)), 64, std::uint64_t{256000})),
                 kCorrupt, "stride");
}

TEST(BlockHeader, RefusesAnotherPayloadSize) {
  expect_refused(decoded(patched(encoded(example()), 72, std::uint64_t{768001})), kCorrupt,
                 "payload bytes");
}

TEST(BlockHeader, RefusesGenerationZero) {
  expect_refused(decoded(patched(encoded(example()), 88, std::uint64_t{0})), kCorrupt,
                 "generation");
}

TEST(BlockHeader, RefusesAColumnNameThatIsNotPaddedWithZeros) {
  expect_refused(decoded(patched(encoded(example()), 128 + 10, 'x')), kCorrupt, "column name");
  BlockHeader header = example();
  header.column.name = std::string(31, 'n');
  EXPECT_TRUE(decoded(encoded(header)).ok());
  expect_refused(decoded(patched(encoded(header), 128 + 31, 'n')), kCorrupt, "column name");
}

TEST(BlockHeader, RefusesAColumnNameThatCannotNameAFolder) {
  const std::string bytes = encoded(example());
  for (const char c : {'\0', '/', '.', '\n', '\xFF'}) {
    expect_refused(decoded(patched(bytes, 128, c)), kCorrupt, "column name");
  }
}

TEST(BlockHeader, RefusesAnOffsetThatTheLayoutDoesNotGive) {
  for (const Layout layout : {Layout::kPadded, Layout::kPacked}) {
    expect_refused(decoded(patched(encoded(example(layout)), 240 + 24, std::uint64_t{64})),
                   kCorrupt, "offset of record 1");
  }
}

TEST(BlockHeader, RefusesALengthAboveTheFirstAxis) {
  expect_refused(decoded(patched(encoded(example()), 240 + 8, 801U)), kCorrupt, "true length 801");
}

TEST(RecordCheck, CoversBytesKeyAndPlace) {
  const BlockHeader header = example();
  const std::string region(256000, 'r');
  const std::uint64_t check = record_check(header, 1, bytes_of(region));
  EXPECT_NE(record_check(header, 1, bytes_of(flipped(region, 99))), check);

  BlockHeader other = header;
  other.records[1].id_hash.low ^= 1U;
  EXPECT_NE(record_check(other, 1, bytes_of(region)), check);
  other = header;
  other.column.name = "mel2";
  EXPECT_NE(record_check(other, 1, bytes_of(region)), check);
  other = header;
  other.block_index = 6;
  EXPECT_NE(record_check(other, 1, bytes_of(region)), check);
  other = header;
  other.records[0].id_hash = header.records[1].id_hash;  // the same key in another slot
  EXPECT_NE(record_check(other, 0, bytes_of(region)), check);
}

// The seed spelled out byte by byte, as section 5 has it.
TEST(RecordCheck, IsSeededByIdHashColumnBlockAndSlot) {
  const BlockHeader header = example();
  std::string seed;
  append_digest(seed, header.records[2].id_hash);
  seed += "mel" + std::string(29, '\0');
  append(seed, std::uint32_t{5});
  append(seed, std::uint32_t{2});
  const std::string region = "bytes of the record";
  EXPECT_EQ(record_check(header, 2, bytes_of(region)),
            check64(bytes_of(region), check64(bytes_of(seed))));
}

TEST(ColumnSpec, GeometryIsThatOfTheDocument) {
  const ColumnSpec mel{"mel", 0, DType::kFloat32, {800, 80}, Layout::kPadded, {}, {}};
  EXPECT_EQ(mel.record_bytes(), 256000U);
  EXPECT_EQ(mel.geometry().records_per_block, 32U);
  EXPECT_EQ(mel.geometry().blocks_per_shard, 16U);
  EXPECT_EQ(mel.geometry().clips_per_shard(), 512U);
  const ColumnSpec tokens{"tokens", 1, DType::kInt32, {200}, Layout::kPadded, {}, {}};
  EXPECT_EQ(tokens.geometry().records_per_block, 64U);
  EXPECT_EQ(tokens.geometry().blocks_per_shard, 2621U);
  EXPECT_EQ(tokens.geometry().clips_per_shard(), 167744U);
}

TEST(ColumnSpec, RefusesWhatNoBlockCouldHold) {
  ColumnSpec column{"mel", 0, DType::kFloat32, {800, 80}, Layout::kPadded, {}, {}};
  EXPECT_TRUE(column.validate().ok());
  column.shape = {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF};
  expect_refused(column.validate(), StatusCode::kInvalidArgument, "shape");
  column.shape = {1, 1, 1, 1, 1};
  expect_refused(column.validate(), StatusCode::kInvalidArgument, "rank");
  column.shape = {1};
  column.name = "..";
  expect_refused(column.validate(), StatusCode::kInvalidArgument, "column name");
}

}  // namespace
}  // namespace xtts::formats
