#include "store/hdf5_description.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/formatted.hpp"
#include "formats/constants.hpp"
#include "formats/enum_names.hpp"

namespace xtts::store {
namespace {

using formats::ColumnSpec;
using formats::Layout;

constexpr std::array<std::string_view, 6> kTakenNames = {"facts", "facts_offsets", "headers",
                                                         "ids",   "lengths",       "offsets"};

Hdf5Type type_of(DType dtype) {
  static constexpr std::array kTypes = {
      std::pair{DType::kFloat32, Hdf5Type::kFloat32},
      std::pair{DType::kFloat16, Hdf5Type::kFloat16},
      // HDF5 has no bfloat16, and no program expects one.
      std::pair{DType::kBFloat16, Hdf5Type::kUInt16},
      std::pair{DType::kInt32, Hdf5Type::kInt32},
      std::pair{DType::kInt16, Hdf5Type::kInt16},
      std::pair{DType::kUInt8, Hdf5Type::kUInt8},
      std::pair{DType::kInt64, Hdf5Type::kInt64},
  };
  const auto* const found = std::ranges::find(kTypes, dtype, &std::pair<DType, Hdf5Type>::first);
  return found == kTypes.end() ? Hdf5Type::kUInt8 : found->second;
}

Hdf5Attribute about(std::string words) {
  return {"about", std::move(words)};
}

std::vector<std::uint64_t> shape_of(const ColumnSpec& column) {
  return {column.shape.begin(), column.shape.end()};
}

// The expression that gives record i in Python, with h5py.
std::string words_on_records(const ColumnSpec& column) {
  const std::string& name = column.name;
  if (column.layout == Layout::kPadded) {
    return "Records one after another, each filled up to the same shape. Of record i, " + name +
           "[i, :lengths[i]] is true; behind it lies the fill value.";
  }
  std::string row_shape;
  for (std::size_t axis = 1; axis < column.shape.size(); ++axis) {
    row_shape += formatted(", {}", column.shape[axis]);
  }
  const std::uint64_t row_elements = column.row_bytes() / size_bytes(column.dtype);
  const std::string length =
      row_shape.empty() ? "lengths[i]" : formatted("lengths[i] * {}", row_elements);
  std::string words = formatted(
      "Records one after another, none filled up. Record i is {}[offsets[i] : offsets[i] + {}]",
      name, length);
  if (!row_shape.empty()) words += formatted(".reshape(lengths[i]{})", row_shape);
  return words + ".";
}

Hdf5Dataset records(const ColumnSpec& column, const Hdf5Sizes& sizes) {
  Hdf5Dataset dataset{.name = column.name,
                      .type = type_of(column.dtype),
                      .shape = {sizes.payload_bytes / size_bytes(column.dtype)},
                      .attributes = {about(words_on_records(column)),
                                     {"dtype", std::string(to_string(column.dtype))}}};
  if (column.layout == Layout::kPadded) {
    dataset.shape = shape_of(column);
    dataset.shape.insert(dataset.shape.begin(), sizes.record_count);
  }
  if (column.dtype == DType::kBFloat16) {
    dataset.attributes.push_back(
        {"encoding", "bfloat16 as uint16: the upper 16 bits of the float32 of that value"});
  }
  return dataset;
}

Hdf5Dataset dataset(std::string name, Hdf5Type type, std::vector<std::uint64_t> shape,
                    std::string words) {
  return {.name = std::move(name),
          .type = type,
          .shape = std::move(shape),
          .attributes = {about(std::move(words))}};
}

Hdf5Dataset ids(const Hdf5Sizes& sizes) {
  Hdf5Dataset made = dataset("ids", Hdf5Type::kText, {sizes.record_count},
                             "The clip of each record, UTF-8. cut_ids of them are longer than 256 "
                             "bytes and cut here; facts holds them whole.");
  made.text_bytes = sizes.id_bytes;
  made.attributes.push_back({"cut_ids", sizes.cut_id_count});
  return made;
}

}  // namespace

Hdf5Description describe_shard(const ColumnSpec& column, const Hdf5Sizes& sizes) {
  Hdf5Description description;
  description.attributes = {
      about("A shard of an xtts cache: the records of one column, in blocks that are checked by "
            "their headers. Each dataset says what it is; formats/cache-v1.md describes every "
            "byte."),
      {"column", column.name},
      {"dtype", std::string(to_string(column.dtype))},
      {"format", "xtts-cache"},
      {"format_version", std::uint64_t{formats::kFormatVersion}},
      {"layout", std::string(formats::name_of(column.layout))},
      {"records_per_block", std::uint64_t{column.geometry().records_per_block}},
      {"shape", shape_of(column)}};
  description.datasets = {
      records(column, sizes),
      dataset("headers", Hdf5Type::kUInt8, {sizes.block_count, formats::kBlockHeaderBytes},
              "One row a block: its header (formats/cache-v1.md, section 5), which tells its "
              "records and their checks."),
      dataset("facts", Hdf5Type::kUInt8, {sizes.facts_bytes},
              "The facts of the blocks' records (formats/cache-v1.md, section 6), one value a "
              "block, one after another."),
      dataset("facts_offsets", Hdf5Type::kUInt64, {sizes.block_count + 1},
              "Where the facts of each block begin, in bytes of facts; then their end."),
      dataset("lengths", Hdf5Type::kUInt32, {sizes.record_count},
              "The true length of each record: rows of its first axis."),
      ids(sizes)};
  if (column.layout == Layout::kPacked) {
    description.datasets.push_back(
        dataset("offsets", Hdf5Type::kUInt64, {sizes.record_count},
                formatted("Where each record begins, in elements of {}.", column.name)));
  }
  return description;
}

bool is_taken_name(std::string_view column_name) noexcept {
  return std::ranges::find(kTakenNames, column_name) != kTakenNames.end();
}

}  // namespace xtts::store
