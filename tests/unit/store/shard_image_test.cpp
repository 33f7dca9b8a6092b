// The image is read back by three readers that do not know each other: our own codecs by the
// table's offsets, a sum over all regions, and LMDB itself (hdf5_shard_test.cpp: HDF5).
#include "store/shard_image.hpp"

#include <gtest/gtest.h>
#include <lmdb.h>
#include <malloc.h>

#include <algorithm>
#include <cstring>

#include "base/half.hpp"
#include "formats/bytes.hpp"
#include "image_samples.hpp"
#include "store/lmdb_layout.hpp"
#include "support/sanitized.hpp"
#include "support/temp_folder.hpp"

namespace xtts::testing {
namespace {

using formats::ColumnSpec;
using formats::Layout;
using store::FinishedImage;

std::vector<std::byte> expected_fill(const ColumnSpec& column, std::uint32_t bits) {
  std::vector<std::byte> element(size_bytes(column.dtype));
  const auto value = std::bit_cast<float>(bits);
  std::uint64_t stored = bits;
  if (column.dtype == DType::kFloat16) stored = to_float16(value);
  if (column.dtype == DType::kBFloat16) stored = to_bfloat16(value);
  for (std::size_t i = 0; i < element.size(); ++i)
    element[i] = static_cast<std::byte>(stored >> (8 * i));
  return element;
}

void expect_region(const ColumnSpec& column, const SampleRecord& record,
                   std::span<const std::byte> region) {
  ASSERT_LE(record.rows.size(), region.size());
  EXPECT_TRUE(std::ranges::equal(record.rows, region.first(record.rows.size())));
  const auto fill = column.layout == Layout::kPadded ? expected_fill(column, record.fill_bits)
                                                     : std::vector<std::byte>{std::byte{0}};
  std::size_t wrong = 0;
  for (std::size_t i = record.rows.size(); i < region.size(); ++i) {
    wrong += region[i] != fill[(i - record.rows.size()) % fill.size()] ? 1U : 0U;
  }
  EXPECT_EQ(wrong, 0U) << "bytes behind " << record.id;
}

// One suite a store: what is promised of both is asked of both.
class ShardImageOf : public ::testing::TestWithParam<ImageCase> {};
class LmdbImageOf : public ShardImageOf {};

SampleImage image_of(const ImageCase& param) {
  return sample_image(param.column, param.record_count, 0, param.per_block, param.store);
}

std::string name_of_case(const ::testing::TestParamInfo<ImageCase>& info) {
  return info.param.name;
}

TEST_P(ShardImageOf, HoldsEveryRecordWhereItsTableSays) {
  const ImageCase& param = GetParam();
  const SampleImage sample = image_of(param);
  const FinishedImage& image = sample.finished;
  ASSERT_TRUE(image.table.validate(param.store).ok());
  EXPECT_EQ(image.table.file_bytes, image.bytes.size());
  EXPECT_EQ(image.record_count, param.record_count);
  std::uint64_t number = 0;
  for (const auto& place : image.table.blocks) {
    if (param.store == formats::StoreKind::kLmdb) {
      EXPECT_EQ(place.header_offset % 4096, 16U);
      EXPECT_EQ(place.payload_offset % 4096, 0U);
      EXPECT_EQ(place.facts_offset % 4096, 16U);
      EXPECT_EQ((place.facts_offset + place.facts_bytes) % 4096, 0U);
    }
    const auto header =
        formats::decode_block_header(image.bytes.subspan(place.header_offset, 4080));
    ASSERT_TRUE(header.ok()) << header.status().message();
    const auto facts =
        formats::decode_block_facts(image.bytes.subspan(place.facts_offset, place.facts_bytes));
    ASSERT_TRUE(facts.ok()) << facts.status().message();
    ASSERT_EQ(facts->records.size(), header->records.size());
    for (std::size_t slot = 0; slot < header->records.size(); ++slot, ++number) {
      const SampleRecord record = sample_record(param.column, number);
      const auto region = image.bytes.subspan(
          place.payload_offset + header->records[slot].offset_bytes, header->region_bytes(slot));
      EXPECT_EQ(formats::record_check(*header, slot, region), header->records[slot].check);
      EXPECT_EQ(header->records[slot].length, record.length);
      EXPECT_EQ(facts->records[slot].id, record.id);
      expect_region(param.column, record, region);
    }
  }
  EXPECT_EQ(number, param.record_count);
}

// malloc's memory is filled with another pattern for each image: a byte of it that reached the
// image would show.
TEST_P(ShardImageOf, IsTheSameBytesWhateverMemoryHeldBefore) {
  const ImageCase& param = GetParam();
  ::mallopt(M_PERTURB, 0x55);
  const SampleImage first = image_of(param);
  ::mallopt(M_PERTURB, 0xAA);
  const SampleImage second = image_of(param);
  ::mallopt(M_PERTURB, 0);
  ASSERT_EQ(first.finished.bytes.size(), second.finished.bytes.size());
  EXPECT_EQ(std::memcmp(first.finished.bytes.data(), second.finished.bytes.data(),
                        first.finished.bytes.size()),
            0);
  EXPECT_EQ(first.finished.table.digest(), second.finished.table.digest());
}

TEST_P(LmdbImageOf, IsAnEnvironmentThatLmdbReads) {
  const ImageCase& param = GetParam();
  const SampleImage sample = image_of(param);
  const FinishedImage& image = sample.finished;
  const TempFolder folder;
  const std::string path = folder.write(
      "shard.lmdb", {reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size()});

  MDB_env* environment = nullptr;
  ASSERT_EQ(::mdb_env_create(&environment), 0);
  ASSERT_EQ(::mdb_env_open(environment, path.c_str(), MDB_RDONLY | MDB_NOSUBDIR | MDB_NOLOCK, 0),
            0);
  MDB_txn* transaction = nullptr;
  ASSERT_EQ(::mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction), 0);
  MDB_dbi database = 0;
  ASSERT_EQ(::mdb_dbi_open(transaction, nullptr, 0, &database), 0);
  MDB_cursor* cursor = nullptr;
  ASSERT_EQ(::mdb_cursor_open(transaction, database, &cursor), 0);
  MDB_val key;
  MDB_val value;
  std::size_t count = 0;
  const std::size_t block_count = image.table.blocks.size();
  while (::mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
    const std::string name(static_cast<const char*>(key.mv_data), key.mv_size);
    char expected[32] = "about";
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    if (count > 0) {
      const bool is_block = count <= block_count;
      const std::size_t index = is_block ? count - 1 : count - 1 - block_count;
      ASSERT_LT(index, block_count);
      std::snprintf(expected, sizeof expected, is_block ? "block/%05zu" : "facts/%05zu", index);
      const auto& place = image.table.blocks[index];
      offset = is_block ? place.header_offset : place.facts_offset;
      size = is_block ? 4080 + place.payload_bytes : place.facts_bytes;
      ASSERT_EQ(value.mv_size, size) << name;
      EXPECT_EQ(std::memcmp(value.mv_data, image.bytes.data() + offset, size), 0) << name;
    }
    EXPECT_EQ(name, expected);
    ++count;
  }
  EXPECT_EQ(count, 1 + 2 * block_count);
  ::mdb_cursor_close(cursor);
  ::mdb_txn_abort(transaction);
  ::mdb_env_close(environment);
}

INSTANTIATE_TEST_SUITE_P(Lmdb, ShardImageOf,
                         ::testing::ValuesIn(image_cases(formats::StoreKind::kLmdb)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Hdf5, ShardImageOf,
                         ::testing::ValuesIn(image_cases(formats::StoreKind::kHdf5)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Shapes, LmdbImageOf,
                         ::testing::ValuesIn(image_cases(formats::StoreKind::kLmdb)), name_of_case);

// A conversion copies them.
TEST(ShardImage, BlocksAreTheSameBytesInBothStores) {
  for (ImageCase param : image_cases(formats::StoreKind::kLmdb)) {
    if (param.record_count > 1000) continue;
    const SampleImage lmdb = image_of(param);
    param.store = formats::StoreKind::kHdf5;
    const SampleImage hdf5 = image_of(param);
    ASSERT_EQ(lmdb.finished.table.blocks.size(), hdf5.finished.table.blocks.size());
    for (std::size_t i = 0; i < lmdb.finished.table.blocks.size(); ++i) {
      const formats::BlockPlace& a = lmdb.finished.table.blocks[i];
      const formats::BlockPlace& b = hdf5.finished.table.blocks[i];
      const auto same = [&](std::uint64_t in_lmdb, std::uint64_t in_hdf5, std::uint64_t size) {
        return std::memcmp(lmdb.finished.bytes.data() + in_lmdb,
                           hdf5.finished.bytes.data() + in_hdf5, size) == 0;
      };
      ASSERT_EQ(a.payload_bytes, b.payload_bytes) << param.name;
      ASSERT_EQ(a.facts_bytes, b.facts_bytes) << param.name;
      EXPECT_TRUE(same(a.header_offset, b.header_offset, formats::kBlockHeaderBytes));
      EXPECT_TRUE(same(a.payload_offset, b.payload_offset, a.payload_bytes)) << param.name;
      EXPECT_TRUE(same(a.facts_offset, b.facts_offset, a.facts_bytes)) << param.name;
      EXPECT_EQ(a.header_check, b.header_check);
      EXPECT_EQ(a.facts_check, b.facts_check);
      EXPECT_EQ(a.record_count, b.record_count);
    }
  }
}

// 12,500 blocks fill the first branch page, which LMDB splits through memory of its own.
TEST(ShardImage, IsTheSameBytesWhenTheTreeGrowsToThreeLevels) {
  if (testing::kIsSanitized) GTEST_SKIP() << "the sanitizer has its own memory";
  const ColumnSpec column = mel_column({1}, DType::kUInt8);
  ::mallopt(M_PERTURB, 0x55);
  const SampleImage first = sample_image(column, 13'000, 0, 1);
  ::mallopt(M_PERTURB, 0xAA);
  const SampleImage second = sample_image(column, 13'000, 0, 1);
  ::mallopt(M_PERTURB, 0);
  ASSERT_EQ(first.finished.table.blocks.size(), 13'000U);
  EXPECT_TRUE(std::ranges::equal(first.finished.bytes, second.finished.bytes));
}

class ShardImageIn : public ::testing::TestWithParam<formats::StoreKind> {};

TEST_P(ShardImageIn, StructureIsEveryByteThatNoRegionCovers) {
  const SampleImage sample = sample_image(mel_column({7, 3}, DType::kUInt8), 130, 0, 0, GetParam());
  const FinishedImage& image = sample.finished;
  std::vector<bool> covered(image.bytes.size(), false);
  const auto cover = [&](std::uint64_t offset, std::uint64_t size) {
    for (std::uint64_t i = offset; i < offset + size; ++i) {
      EXPECT_FALSE(covered[i]);
      covered[i] = true;
    }
  };
  for (const auto& place : image.table.blocks) {
    cover(place.header_offset, 4080);
    cover(place.payload_offset, place.payload_bytes);
    cover(place.facts_offset, place.facts_bytes);
  }
  std::vector<std::byte> structure;
  for (std::size_t i = 0; i < covered.size(); ++i) {
    if (!covered[i]) structure.push_back(image.bytes[i]);
  }
  EXPECT_EQ(check64(structure), image.table.structure_check);
}

TEST_P(ShardImageIn, GenerationAndColumnAreInEveryHeader) {
  const ColumnSpec column = tokens_column();
  auto image = store::make_image(column, GetParam(), 7);
  ASSERT_TRUE(image.ok());
  ASSERT_TRUE(add_sample_block(**image, column, 0, 3).ok());
  const auto finished = (*image)->finish();
  ASSERT_TRUE(finished.ok());
  const auto header = formats::decode_block_header(
      finished->bytes.subspan(finished->table.blocks[0].header_offset, 4080));
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->generation, 7U);
  EXPECT_EQ(header->column.name, "tokens");
  EXPECT_EQ(header->column.id, 1U);
  EXPECT_EQ(header->column.fingerprint, column.fingerprint);
}

TEST_P(ShardImageIn, RefusesWhatDoesNotFitItsColumn) {
  const ColumnSpec column = mel_column({10, 3});
  auto image = store::make_image(column, GetParam(), 1);
  ASSERT_TRUE(image.ok());
  const SampleRecord record = sample_record(column, 1);
  const store::PendingRecord good{
      .id_hash = {}, .length = record.length, .fill_bits = 0, .rows = record.rows};
  const auto code_of = [&](const std::vector<store::PendingRecord>& records,
                           std::size_t facts_count) {
    formats::BlockFacts facts;
    facts.records.resize(facts_count);
    return (*image)->add_block(records, std::move(facts)).code();
  };
  store::PendingRecord too_long = good;
  too_long.length = 11;
  store::PendingRecord short_of_bytes = good;
  short_of_bytes.rows = good.rows.first(good.rows.size() - 1);
  EXPECT_EQ(code_of({}, 0), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of(std::vector(65, good), 65), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({too_long}, 1), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({short_of_bytes}, 1), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({good}, 2), StatusCode::kInvalidArgument);
  EXPECT_EQ((*image)->finish().status().code(), StatusCode::kInvalidArgument) << "no block";
  EXPECT_EQ(code_of({good}, 1), StatusCode::kOk);
  EXPECT_TRUE((*image)->finish().ok());
  EXPECT_EQ(code_of({good}, 1), StatusCode::kInvalidArgument) << "after finish()";
}

TEST_P(ShardImageIn, RefusesAFillValueThatItsDtypeCannotHold) {
  const ColumnSpec column = mel_column({4}, DType::kUInt8);
  auto image = store::make_image(column, GetParam(), 1);
  ASSERT_TRUE(image.ok());
  formats::BlockFacts facts;
  facts.records.resize(1);
  const std::array<std::byte, 1> row{};
  const store::PendingRecord record{.id_hash = {}, .length = 1, .fill_bits = 256, .rows = row};
  EXPECT_EQ((*image)->add_block({&record, 1}, facts).code(), StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Stores, ShardImageIn,
                         ::testing::Values(formats::StoreKind::kLmdb, formats::StoreKind::kHdf5),
                         [](const auto& store) {
                           return store.param == formats::StoreKind::kLmdb ? "Lmdb" : "Hdf5";
                         });

// Values that are only reserved take no memory, so that nine times 128 MiB cost nothing here.
TEST(LmdbLayout, SaysInPlainWordsThatAShardIsFull) {
  auto layout = store::LmdbLayout::open();
  ASSERT_TRUE(layout.ok());
  Status status;
  int value_count = 0;
  for (; status.ok() && value_count < 9; ++value_count) {
    status = (*layout)->reserve("block/0000" + std::to_string(value_count), 128U << 20U).status();
  }
  EXPECT_EQ(value_count, 8);
  EXPECT_EQ(status.code(), StatusCode::kResource);
  EXPECT_NE(status.message().find("1 GiB"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace xtts::testing
