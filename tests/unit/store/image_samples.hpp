// Records and images for the tests of src/store and tests/fault: everything follows from the column
// and a number.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "formats/block.hpp"
#include "store/shard_image.hpp"

namespace xtts::testing {

[[nodiscard]] formats::ColumnSpec mel_column(std::vector<std::uint32_t> shape,
                                             DType dtype = DType::kFloat32,
                                             formats::Layout layout = formats::Layout::kPadded);
[[nodiscard]] formats::ColumnSpec tokens_column();

// A record with its own bytes: `number` seeds content and length (1 to all rows).
struct SampleRecord {
  std::string id;
  std::uint32_t length = 0;
  std::vector<std::byte> rows;
  std::uint32_t fill_bits = 0;
};
[[nodiscard]] SampleRecord sample_record(const formats::ColumnSpec& column, std::uint64_t number);

struct SampleImage {
  std::unique_ptr<store::ShardImage> image;
  store::FinishedImage finished;
};
// Blocks of at most K records, numbers from `first_number` on. Fails the test on any failure.
[[nodiscard]] SampleImage sample_image(const formats::ColumnSpec& column,
                                       std::uint64_t record_count, std::uint64_t first_number = 0,
                                       std::uint32_t per_block = 0,
                                       formats::StoreKind store = formats::StoreKind::kLmdb);
// Columns and numbers of records that are odd in some way.
struct ImageCase {
  std::string name;
  formats::ColumnSpec column;
  std::uint64_t record_count = 1;
  std::uint32_t per_block = 0;  // 0: K
  formats::StoreKind store = formats::StoreKind::kLmdb;
};
[[nodiscard]] std::vector<ImageCase> image_cases(formats::StoreKind store);
void PrintTo(const ImageCase& value, std::ostream* out);

// Adds one block; its status.
[[nodiscard]] Status add_sample_block(store::ShardImage& image, const formats::ColumnSpec& column,
                                      std::uint64_t first_number, std::uint32_t record_count);

}  // namespace xtts::testing
