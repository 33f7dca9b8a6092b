#include "corpus/arrow/row_columns.hpp"

#include <arrow/array.h>
#include <arrow/scalar.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/try.hpp"
#include "base/utf8.hpp"
#include "corpus/arrow/arrow_call.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace {

using nlohmann::json;

constexpr int kDepthMax = 16;
constexpr std::array<std::string_view, 6> kNamesOfSound = {"audio", "sound", "bytes",
                                                           "wav",   "flac",  "mp3"};

bool is_bytes(const arrow::DataType& type) {
  return type.id() == arrow::Type::BINARY || type.id() == arrow::Type::LARGE_BINARY;
}

// Whether RowJson can express values of this type.
bool is_readable(const arrow::DataType& type, int depth = 0) {
  using arrow::Type;
  switch (type.id()) {
    case Type::BINARY:
    case Type::LARGE_BINARY:
    case Type::BINARY_VIEW:
    case Type::STRING_VIEW:
    case Type::FIXED_SIZE_BINARY:
    case Type::MAP:
    case Type::SPARSE_UNION:
    case Type::DENSE_UNION:
    case Type::EXTENSION:
    case Type::LIST_VIEW:
    case Type::LARGE_LIST_VIEW:
    case Type::RUN_END_ENCODED:
    case Type::DICTIONARY:
      return false;
    default:
      break;
  }
  if (depth == kDepthMax) return false;
  return std::all_of(type.fields().begin(), type.fields().end(),
                     [&](const auto& field) { return is_readable(*field->type(), depth + 1); });
}

template <typename Array>
auto value_at(const arrow::Array& array, std::int64_t row) {
  return static_cast<const Array&>(array).Value(row);
}

// Converts the values of one row to JSON; a row longer than a line may be is a failure.
class RowJson {
 public:
  [[nodiscard]] Result<json> of(const arrow::Array& array, std::int64_t row) {
    using arrow::Type;
    XTTS_TRY(spend(1));
    if (array.IsNull(row)) return json();
    switch (array.type_id()) {
      case Type::BOOL:
        return json(value_at<arrow::BooleanArray>(array, row));
      case Type::INT8:
        return json(value_at<arrow::Int8Array>(array, row));
      case Type::INT16:
        return json(value_at<arrow::Int16Array>(array, row));
      case Type::INT32:
        return json(value_at<arrow::Int32Array>(array, row));
      case Type::INT64:
        return json(value_at<arrow::Int64Array>(array, row));
      case Type::UINT8:
        return json(value_at<arrow::UInt8Array>(array, row));
      case Type::UINT16:
        return json(value_at<arrow::UInt16Array>(array, row));
      case Type::UINT32:
        return json(value_at<arrow::UInt32Array>(array, row));
      case Type::UINT64:
        return json(value_at<arrow::UInt64Array>(array, row));
      case Type::FLOAT:
        return number(static_cast<double>(value_at<arrow::FloatArray>(array, row)));
      case Type::DOUBLE:
        return number(value_at<arrow::DoubleArray>(array, row));
      case Type::STRING:
        return text(static_cast<const arrow::StringArray&>(array).GetView(row));
      case Type::LARGE_STRING:
        return text(static_cast<const arrow::LargeStringArray&>(array).GetView(row));
      case Type::STRUCT:
        return object(static_cast<const arrow::StructArray&>(array), row);
      case Type::LIST:
        return list(static_cast<const arrow::ListArray&>(array), row);
      case Type::LARGE_LIST:
        return list(static_cast<const arrow::LargeListArray&>(array), row);
      case Type::FIXED_SIZE_LIST:
        return list(static_cast<const arrow::FixedSizeListArray&>(array), row);
      default:  // times, decimals
        return scalar(array, row);
    }
  }

 private:
  static json number(double value) { return std::isfinite(value) ? json(value) : json(); }

  Status spend(std::size_t size_bytes) {
    if (size_bytes > bytes_left_) {
      return {StatusCode::kBadInput,
              "has fields of more than " + counted(kTextBytesMax, "byte", "bytes")};
    }
    bytes_left_ -= size_bytes;
    return {};
  }

  Result<json> text(std::string_view bytes) {
    XTTS_TRY(spend(bytes.size()));
    if (utf8_valid_bytes(bytes) != bytes.size())
      return Status(StatusCode::kBadInput, "has a text that is not UTF-8");
    return json(std::string(bytes));
  }

  Result<json> object(const arrow::StructArray& array, std::int64_t row) {
    json values = json::object();
    for (int i = 0; i < array.num_fields(); ++i) {
      const std::string& name = array.struct_type()->field(i)->name();
      XTTS_TRY(text(name).status());
      XTTS_ASSIGN(values[name], of(*array.field(i), row));
    }
    return values;
  }

  template <typename Array>
  Result<json> list(const Array& array, std::int64_t row) {
    json values = json::array();
    const std::int64_t begin = array.value_offset(row);
    const std::int64_t end = begin + array.value_length(row);
    for (std::int64_t i = begin; i < end; ++i) {
      XTTS_ASSIGN(auto element, of(*array.values(), i));
      values.push_back(std::move(element));
    }
    return values;
  }

  Result<json> scalar(const arrow::Array& array, std::int64_t row) {
    const auto found = array.GetScalar(row);
    if (!found.ok()) return to_status(found.status());
    return text((*found)->ToString());
  }

  std::size_t bytes_left_ = kTextBytesMax;
};

std::string_view path_of_sound(const arrow::Array& column, std::int64_t row) {
  if (column.type_id() != arrow::Type::STRUCT || column.IsNull(row)) return {};
  const auto path = static_cast<const arrow::StructArray&>(column).GetFieldByName("path");
  if (path == nullptr || path->type_id() != arrow::Type::STRING || path->IsNull(row)) return {};
  return static_cast<const arrow::StringArray&>(*path).GetView(row);
}

}  // namespace

Result<RowColumns> RowColumns::of(const arrow::Schema& schema) {
  RowColumns columns;
  const auto take = [&](int column, int bytes) {
    columns.sound_ = column;
    columns.bytes_in_struct_ = bytes;
    columns.sound_name_ = schema.field(column)->name();
  };
  for (int i = 0; i < schema.num_fields(); ++i) {
    const arrow::Field& field = *schema.field(i);
    if (field.type()->id() != arrow::Type::STRUCT) continue;
    const int bytes = static_cast<const arrow::StructType&>(*field.type()).GetFieldIndex("bytes");
    if (bytes < 0 || !is_bytes(*field.type()->field(bytes)->type())) continue;
    if (columns.sound_ < 0 || field.name() == "audio") take(i, bytes);
  }
  for (const std::string_view name : kNamesOfSound) {
    const int i = schema.GetFieldIndex(std::string(name));
    if (columns.sound_ < 0 && i >= 0 && is_bytes(*schema.field(i)->type())) take(i, -1);
  }
  if (columns.sound_ < 0) {
    return Status(StatusCode::kBadInput,
                  "has no column of encoded sound (audio, with the fields bytes and path)");
  }
  for (int i = 0; i < schema.num_fields(); ++i) {
    if (i == columns.sound_) continue;
    const std::string& name = schema.field(i)->name();
    const bool is_named = utf8_valid_bytes(name) == name.size() && !name.empty();
    if (is_named && is_readable(*schema.field(i)->type())) {
      columns.fields_.push_back(i);
      columns.names_.push_back(name);
    } else {
      columns.left_out_ += (columns.left_out_.empty() ? "" : ", ") + printable(name);
    }
  }
  return columns;
}

void RowColumns::read(const arrow::RecordBatch& batch, std::int64_t row, ColumnRow& out) const {
  if (const auto sound = batch.GetColumnByName(sound_name_))
    out.audio_path = path_of_sound(*sound, row);
  RowJson values;
  for (const std::string& name : names_) {
    const auto column = batch.GetColumnByName(name);
    if (column == nullptr) continue;
    auto value = values.of(*column, row);
    if (!value.ok()) {
      out.fault = value.status().message();
      return;
    }
    out.fields[name] = std::move(*value);
  }
}

}  // namespace xtts::corpus
