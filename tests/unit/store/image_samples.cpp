#include "image_samples.hpp"
#include "formats/clip_id.hpp"
#include "support/sanitized.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace xtts::testing {

using formats::ColumnSpec;

ColumnSpec mel_column(std::vector<std::uint32_t> shape, DType dtype, formats::Layout layout) {
  return {.name = "mel",
          .id = 0,
          .dtype = dtype,
          .shape = std::move(shape),
          .layout = layout,
          .fingerprint = digest128("features"),
          .numerics = digest128("numerics")};
}

ColumnSpec tokens_column() {
  return {.name = "tokens",
          .id = 1,
          .dtype = DType::kInt32,
          .shape = {200},
          .layout = formats::Layout::kPadded,
          .fingerprint = digest128("text"),
          .numerics = {}};
}

SampleRecord sample_record(const ColumnSpec& column, std::uint64_t number) {
  std::mt19937_64 random(number);
  SampleRecord record;
  record.id = "clip-" + std::to_string(number);
  record.length = 1 + static_cast<std::uint32_t>(random() % column.shape[0]);
  record.rows.resize(record.length * column.row_bytes());
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < record.rows.size(); ++i) {
    if (i % 8 == 0) word = random();
    record.rows[i] = static_cast<std::byte>(word >> (8 * (i % 8)));
  }
  const bool is_float = column.dtype == DType::kFloat32 || column.dtype == DType::kFloat16 ||
                        column.dtype == DType::kBFloat16;
  record.fill_bits = is_float ? std::bit_cast<std::uint32_t>(-11.512925F) : 7U;
  return record;
}

Status add_sample_block(store::ShardImage& image, const ColumnSpec& column,
                        std::uint64_t first_number, std::uint32_t record_count) {
  std::vector<SampleRecord> records;
  std::vector<store::PendingRecord> pending;
  formats::BlockFacts facts;
  for (std::uint32_t i = 0; i < record_count; ++i) {
    records.push_back(sample_record(column, first_number + i));
  }
  for (const SampleRecord& record : records) {
    pending.push_back({.id_hash = formats::id_hash("", record.id),
                       .length = record.length,
                       .fill_bits = record.fill_bits,
                       .rows = record.rows});
    formats::RecordFacts known;
    known.id = record.id;
    known.split = std::uint8_t{0};
    facts.records.push_back(std::move(known));
    facts.summed_frame_count += record.length;
  }
  facts.sums = {1.5, 2.25};
  return image.add_block(pending, std::move(facts));
}

SampleImage sample_image(const ColumnSpec& column, std::uint64_t record_count,
                         std::uint64_t first_number, std::uint32_t per_block,
                         formats::StoreKind store) {
  if (per_block == 0) per_block = column.geometry().records_per_block;
  SampleImage sample;
  auto image = store::make_image(column, store, 1);
  EXPECT_TRUE(image.ok()) << image.status().message();
  if (!image) return sample;
  sample.image = std::move(*image);
  for (std::uint64_t done = 0; done < record_count; done += per_block) {
    const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(per_block, record_count - done));
    const Status status = add_sample_block(*sample.image, column, first_number + done, count);
    EXPECT_TRUE(status.ok()) << status.message();
    if (!status.ok()) return sample;
  }
  auto finished = sample.image->finish();
  EXPECT_TRUE(finished.ok()) << finished.status().message();
  if (finished) sample.finished = std::move(*finished);
  return sample;
}

// A tenth under the address sanitizer: still a tree of pages, in a tenth of the time.
constexpr std::uint64_t kTokensOfAShard = kIsSanitized ? 16'774 : 167'744;

// K is 64 for the small shapes: 63, 64 and 65 records are one record short of a block, a block, and
// a record more.
std::vector<ImageCase> image_cases(formats::StoreKind store) {
  const ColumnSpec small = mel_column({10, 3});
  const auto packed = [](DType dtype) {
    return mel_column({37, 5}, dtype, formats::Layout::kPacked);
  };
  std::vector<ImageCase> cases = {{"OneRecord", small, 1},
                                  {"OneRecordShortOfABlock", small, 63},
                                  {"OneBlock", small, 64},
                                  {"OneRecordMoreThanABlock", small, 65},
                                  {"ManyBlocksOfOneRecord", small, 300, 1},
                                  {"OddLastPage", mel_column({7, 3}, DType::kUInt8), 3},
                                  {"MelBlocks", mel_column({800, 80}), 70},
                                  {"Float16", mel_column({37, 5}, DType::kFloat16), 100},
                                  {"BFloat16", mel_column({37, 5}, DType::kBFloat16), 100},
                                  {"Int64", mel_column({9}, DType::kInt64), 5},
                                  {"PackedFloat32", packed(DType::kFloat32), 200},
                                  {"PackedOddBytes", packed(DType::kUInt8), 200},
                                  {"PackedFloat16", packed(DType::kFloat16), 200},
                                  {"Rank4", mel_column({4, 3, 2, 5}, DType::kInt16), 70},
                                  {"TokensOfAWholeShard", tokens_column(), kTokensOfAShard},
                                  {"OneRecordOf100MiB", mel_column({1, 100U << 18U}), 1}};
  if (kIsSanitized) cases.pop_back();
  for (ImageCase& made : cases) made.store = store;
  return cases;
}

void PrintTo(const ImageCase& value, std::ostream* out) {
  *out << value.name;
}

}  // namespace xtts::testing
