// An HDF5 shard through libhdf5's own eyes: every dataset, its type, its shape and its bytes, from
// a file on the disk. What h5py makes of them is asked in tests/cli/cache_cases.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "formats/bytes.hpp"
#include "image_samples.hpp"
#include "store/hdf5_layout.hpp"
#include "store/image_container.hpp"
#include "support/temp_folder.hpp"

namespace xtts::testing {
namespace {

using formats::ColumnSpec;
using formats::Layout;
using formats::StoreKind;
using store::FinishedImage;

// The file of an image, open for reading.
class OpenShard {
 public:
  explicit OpenShard(const FinishedImage& image) {
    const std::string path = folder_.write(
        "shard.h5", {reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size()});
    file_ = ::H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    EXPECT_GE(file_, 0);
  }
  ~OpenShard() {
    EXPECT_EQ(::H5Fget_obj_count(file_, H5F_OBJ_ALL), 1) << "something of it is still open";
    ::H5Fclose(file_);
  }
  OpenShard(const OpenShard&) = delete;
  OpenShard& operator=(const OpenShard&) = delete;

  [[nodiscard]] hid_t id() const { return file_; }

  [[nodiscard]] std::vector<std::uint64_t> shape(const std::string& name) const {
    const hid_t dataset = open(name);
    const hid_t space = ::H5Dget_space(dataset);
    std::vector<hsize_t> sizes(static_cast<std::size_t>(::H5Sget_simple_extent_ndims(space)));
    ::H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
    ::H5Sclose(space);
    ::H5Dclose(dataset);
    return {sizes.begin(), sizes.end()};
  }

  // In the file's own type: no conversion.
  [[nodiscard]] std::vector<std::byte> bytes(const std::string& name) const {
    const hid_t dataset = open(name);
    const hid_t type = ::H5Dget_type(dataset);
    std::uint64_t size = ::H5Tget_size(type);
    for (const std::uint64_t count : shape(name)) size *= count;
    std::vector<std::byte> out(size);
    EXPECT_GE(::H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()), 0) << name;
    ::H5Tclose(type);
    ::H5Dclose(dataset);
    return out;
  }

  template <typename T>
  [[nodiscard]] std::vector<T> numbers(const std::string& name) const {
    const auto raw = bytes(name);
    std::vector<T> out(raw.size() / sizeof(T));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = formats::load<T>(raw, i * sizeof(T));
    return out;
  }

  [[nodiscard]] bool has(const std::string& name) const {
    return ::H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0;
  }

  // Of the root.
  [[nodiscard]] std::string text_attribute(const char* name) const {
    const hid_t attribute = ::H5Aopen(file_, name, H5P_DEFAULT);
    EXPECT_GE(attribute, 0) << name;
    const hid_t type = ::H5Aget_type(attribute);
    std::string text(::H5Tget_size(type), '?');
    EXPECT_GE(::H5Aread(attribute, type, text.data()), 0);
    EXPECT_EQ(::H5Tis_variable_str(type), 0);
    ::H5Tclose(type);
    ::H5Aclose(attribute);
    return text;
  }

 private:
  [[nodiscard]] hid_t open(const std::string& name) const {
    const hid_t dataset = ::H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    EXPECT_GE(dataset, 0) << name;
    return dataset;
  }

  TempFolder folder_;
  hid_t file_ = -1;
};

SampleImage image_of(const ImageCase& param) {
  return sample_image(param.column, param.record_count, 0, param.per_block, StoreKind::kHdf5);
}

class Hdf5ShardOf : public ::testing::TestWithParam<ImageCase> {};

TEST_P(Hdf5ShardOf, HasEveryPayloadInOneDataset) {
  const ImageCase& param = GetParam();
  const SampleImage sample = image_of(param);
  const FinishedImage& image = sample.finished;
  const OpenShard shard(image);
  std::vector<std::uint64_t> shape(param.column.shape.begin(), param.column.shape.end());
  std::uint64_t payload_bytes = 0;
  for (const auto& place : image.table.blocks) payload_bytes += place.payload_bytes;
  if (param.column.layout == Layout::kPadded) {
    shape.insert(shape.begin(), param.record_count);
  } else {
    shape = {payload_bytes / size_bytes(param.column.dtype)};
  }
  EXPECT_EQ(shard.shape("mel"), shape);
  const auto bytes = shard.bytes("mel");
  ASSERT_EQ(bytes.size(), payload_bytes);
  EXPECT_EQ(
      std::memcmp(bytes.data(), image.bytes.data() + formats::kHdf5PayloadOffset, bytes.size()), 0);
  EXPECT_EQ(image.table.blocks[0].payload_offset, formats::kHdf5PayloadOffset);
}

TEST_P(Hdf5ShardOf, HasHeadersAndFactsAsTheTableTells) {
  const SampleImage sample = image_of(GetParam());
  const FinishedImage& image = sample.finished;
  const OpenShard shard(image);
  const auto headers = shard.bytes("headers");
  const auto facts = shard.bytes("facts");
  const auto facts_offsets = shard.numbers<std::uint64_t>("facts_offsets");
  const auto& blocks = image.table.blocks;
  EXPECT_EQ(shard.shape("headers"), (std::vector<std::uint64_t>{blocks.size(), 4080}));
  ASSERT_EQ(facts_offsets.size(), blocks.size() + 1);
  EXPECT_EQ(facts_offsets.back(), facts.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(
        std::memcmp(headers.data() + 4080 * i, image.bytes.data() + blocks[i].header_offset, 4080),
        0);
    ASSERT_EQ(facts_offsets[i + 1] - facts_offsets[i], blocks[i].facts_bytes);
    EXPECT_EQ(std::memcmp(facts.data() + facts_offsets[i],
                          image.bytes.data() + blocks[i].facts_offset, blocks[i].facts_bytes),
              0);
  }
}

TEST_P(Hdf5ShardOf, TellsLengthsIdsAndOffsetsOfItsRecords) {
  const ImageCase& param = GetParam();
  const SampleImage sample = image_of(param);
  const OpenShard shard(sample.finished);
  const auto lengths = shard.numbers<std::uint32_t>("lengths");
  const auto ids = shard.bytes("ids");
  ASSERT_EQ(lengths.size(), param.record_count);
  ASSERT_EQ(shard.shape("ids"), std::vector<std::uint64_t>{param.record_count});
  const std::size_t id_bytes = ids.size() / param.record_count;
  const bool is_packed = param.column.layout == Layout::kPacked;
  ASSERT_EQ(shard.has("offsets"), is_packed);
  const auto offsets =
      is_packed ? shard.numbers<std::uint64_t>("offsets") : std::vector<std::uint64_t>();
  const auto rows = is_packed ? shard.bytes("mel") : std::vector<std::byte>();
  for (std::uint64_t i = 0; i < param.record_count; ++i) {
    const SampleRecord record = sample_record(param.column, i);
    ASSERT_EQ(lengths[i], record.length);
    std::string id(reinterpret_cast<const char*>(ids.data()) + i * id_bytes, id_bytes);
    id.resize(std::min(id.find('\0'), id.size()));
    ASSERT_EQ(id, record.id);
    if (!is_packed) continue;
    const std::size_t begin = offsets[i] * size_bytes(param.column.dtype);
    ASSERT_LE(begin + record.rows.size(), rows.size());
    ASSERT_EQ(std::memcmp(rows.data() + begin, record.rows.data(), record.rows.size()), 0);
  }
}

TEST_P(Hdf5ShardOf, SaysWhatItIs) {
  const ImageCase& param = GetParam();
  const SampleImage sample = image_of(param);
  const OpenShard shard(sample.finished);
  EXPECT_EQ(shard.text_attribute("column"), "mel");
  EXPECT_EQ(shard.text_attribute("format"), "xtts-cache");
  EXPECT_EQ(shard.text_attribute("dtype"), to_string(param.column.dtype));
  EXPECT_EQ(shard.text_attribute("layout"),
            param.column.layout == Layout::kPadded ? "padded" : "packed");
  EXPECT_FALSE(shard.text_attribute("about").empty());
}

std::vector<ImageCase> mel_cases() {
  auto cases = image_cases(StoreKind::kHdf5);
  for (ImageCase& made : cases) made.column.name = "mel";  // tokens too
  std::erase_if(cases,
                [](const ImageCase& made) { return made.column.record_bytes() > 1'000'000; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Shapes, Hdf5ShardOf, ::testing::ValuesIn(mel_cases()),
                         [](const auto& shape) { return shape.param.name; });

TEST(Hdf5Shard, HalfPrecisionIsAFloatOfSixteenBits) {
  const ColumnSpec column = mel_column({4}, DType::kFloat16);
  auto image = store::make_image(column, StoreKind::kHdf5, 1);
  ASSERT_TRUE(image.ok());
  // 1, -2, the largest (65504), the smallest above 0 (2^-24).
  const std::array<std::uint16_t, 4> halves = {0x3C00, 0xC000, 0x7BFF, 0x0001};
  const store::PendingRecord record{
      .id_hash = {}, .length = 4, .fill_bits = 0, .rows = std::as_bytes(std::span(halves))};
  formats::BlockFacts facts;
  facts.records.resize(1);
  ASSERT_TRUE((*image)->add_block({&record, 1}, facts).ok());
  const auto finished = (*image)->finish();
  ASSERT_TRUE(finished.ok()) << finished.status().message();
  const OpenShard shard(*finished);
  const hid_t dataset = ::H5Dopen2(shard.id(), "mel", H5P_DEFAULT);
  std::array<float, 4> values{};
  // libhdf5 converts, so that it must know what it reads.
  EXPECT_GE(::H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  ::H5Dclose(dataset);
  EXPECT_EQ(values, (std::array<float, 4>{1.0F, -2.0F, 65504.0F, 0x1p-24F}));
}

TEST(Hdf5Shard, PackedWithoutARowHasNoPayloadAndIsWhole) {
  const ColumnSpec column = mel_column({4, 2}, DType::kFloat32, Layout::kPacked);
  auto image = store::make_image(column, StoreKind::kHdf5, 1);
  ASSERT_TRUE(image.ok());
  const std::vector<store::PendingRecord> records(3);
  formats::BlockFacts facts;
  facts.records.resize(3);
  ASSERT_TRUE((*image)->add_block(records, facts).ok());
  const auto finished = (*image)->finish();
  ASSERT_TRUE(finished.ok()) << finished.status().message();
  EXPECT_EQ(finished->table.blocks[0].payload_bytes, 0U);
  const OpenShard shard(*finished);
  EXPECT_EQ(shard.shape("mel"), std::vector<std::uint64_t>{0});
  EXPECT_EQ(shard.numbers<std::uint32_t>("lengths"), (std::vector<std::uint32_t>{0, 0, 0}));
}

// One long id must not make every other as long; it is cut where a character ends.
TEST(Hdf5Shard, CutsLongIdsForPeopleAndKeepsThemInTheFacts) {
  const ColumnSpec column = mel_column({1});
  auto image = store::make_image(column, StoreKind::kHdf5, 1);
  ASSERT_TRUE(image.ok());
  std::string long_id = "a";
  while (long_id.size() < 400) long_id += "ف";  // two bytes each, so that byte 256 is in the middle
  const std::array<float, 1> row{};
  const std::vector<store::PendingRecord> records(
      2, {.id_hash = {}, .length = 1, .fill_bits = 0, .rows = std::as_bytes(std::span(row))});
  formats::BlockFacts facts;
  facts.records.resize(2);
  facts.records[0].id = "short";
  facts.records[1].id = long_id;
  facts.records[1].dataset = "set";
  ASSERT_TRUE((*image)->add_block(records, facts).ok());
  const auto finished = (*image)->finish();
  ASSERT_TRUE(finished.ok());
  const OpenShard shard(*finished);
  const auto ids = shard.bytes("ids");
  const std::string text(reinterpret_cast<const char*>(ids.data()), ids.size());
  const std::string cut = ("set/" + long_id).substr(0, 255);
  ASSERT_EQ(ids.size(), 2 * cut.size());
  EXPECT_EQ(text.substr(0, 255), "short" + std::string(250, '\0'));
  EXPECT_EQ(text.substr(255), cut);
  const auto& place = finished->table.blocks[0];
  const auto kept =
      formats::decode_block_facts(finished->bytes.subspan(place.facts_offset, place.facts_bytes));
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->records[1].id, long_id);
}

TEST(Hdf5Shard, RefusesAColumnOfAnotherDatasetsName) {
  for (const std::string name : {"ids", "headers", "offsets"}) {
    ColumnSpec column = mel_column({1});
    column.name = name;
    const auto image = store::make_image(column, StoreKind::kHdf5, 1);
    EXPECT_EQ(image.status().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_TRUE(store::make_image(column, StoreKind::kLmdb, 1).ok()) << name;
  }
}

// Only the room is asked for and nothing is written, so that seven times 128 MiB cost nothing here.
TEST(Hdf5Shard, SaysInPlainWordsThatItIsFull) {
  const ColumnSpec column = mel_column({1, 128U << 18U});
  auto container = store::make_hdf5_container(column);
  ASSERT_TRUE(container.ok());
  formats::BlockHeader header{.column = column, .payload_bytes = 128U << 20U, .records = {}};
  header.records.resize(1);
  formats::BlockFacts facts;
  facts.records.resize(1);
  Status status;
  int block_count = 0;
  for (; status.ok() && block_count < 9; ++block_count) {
    status = (*container)->add_block(header, facts).status();
  }
  EXPECT_EQ(block_count, 8);
  EXPECT_EQ(status.code(), StatusCode::kResource);
  EXPECT_NE(status.message().find("1 GiB"), std::string::npos) << status.message();
}

// libhdf5 1.10.8, 1.14.2 and 2.0.0 all gave this. Another version that does not makes sound shards
// with other digests: then this number is told here and in cache-v1.md, section 11.
TEST(Hdf5Shard, HasTheStructureThatKnownVersionsOfTheLibraryGive) {
  const SampleImage packed = sample_image(mel_column({37, 5}, DType::kFloat16, Layout::kPacked),
                                          130, 0, 0, StoreKind::kHdf5);
  const SampleImage padded =
      sample_image(mel_column({7, 3}, DType::kBFloat16), 130, 0, 0, StoreKind::kHdf5);
  EXPECT_EQ(packed.finished.table.digest().to_hex(), "59be3e41e124678e352dad914449c1ed");
  EXPECT_EQ(padded.finished.table.digest().to_hex(), "412594f06cfae255c2a817bf4f07cc7d");
}

// libhdf5 is one for all threads: images that are finished at the same time are as if they were
// not.
TEST(Hdf5Shard, IsTheSameBytesFromManyThreads) {
  const ColumnSpec column = mel_column({37, 5}, DType::kFloat16, Layout::kPacked);
  const SampleImage expected = sample_image(column, 130, 0, 0, StoreKind::kHdf5);
  constexpr int kThreads = 8;
  std::vector<int> wrong_counts(kThreads, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        const SampleImage made = sample_image(column, 130, 0, 0, StoreKind::kHdf5);
        const bool same = std::ranges::equal(made.finished.bytes, expected.finished.bytes);
        wrong_counts[static_cast<std::size_t>(i)] += same ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong_counts, std::vector<int>(kThreads, 0));
}

TEST(Hdf5Layout, SaysInTheLibrarysWordsWhatItRefuses) {
  store::Hdf5Description description;
  for (int i = 0; i < 2; ++i) {
    description.datasets.emplace_back().name = "twice";
    description.datasets.back().shape = {3};
  }
  const auto layout = store::Hdf5Layout::of(description);
  EXPECT_EQ(layout.status().code(), StatusCode::kResource);
  EXPECT_NE(layout.status().message().find("HDF5, H5Dcreate2"), std::string::npos)
      << layout.status().message();
  EXPECT_NE(layout.status().message().find("already exists"), std::string::npos)
      << layout.status().message();
}

// Our silence is over with the call: somebody else's printing of errors is as it was.
TEST(Hdf5Layout, LeavesThePrintingOfErrorsAsItWas) {
  const auto count = [](hid_t, void* counter) -> herr_t {
    ++*static_cast<int*>(counter);
    return 0;
  };
  int heard = 0;
  H5E_auto2_t before = nullptr;
  void* client = nullptr;
  ::H5Eget_auto2(H5E_DEFAULT, &before, &client);
  ::H5Eset_auto2(H5E_DEFAULT, count, &heard);
  store::Hdf5Description without_name;
  without_name.datasets.emplace_back();
  EXPECT_FALSE(store::Hdf5Layout::of(without_name).ok());
  EXPECT_EQ(heard, 0);
  EXPECT_LT(::H5Dopen2(-1, "nothing", H5P_DEFAULT), 0);
  EXPECT_EQ(heard, 1);
  ::H5Eset_auto2(H5E_DEFAULT, before, client);
}

}  // namespace
}  // namespace xtts::testing
