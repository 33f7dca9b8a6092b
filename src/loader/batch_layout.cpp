#include "loader/batch_layout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/counted.hpp"
#include "base/float_range.hpp"
#include "base/formatted.hpp"
#include "base/half.hpp"
#include "base/try.hpp"
#include "formats/constants.hpp"
#include "formats/fill_number.hpp"
#include "loader/column_norm.hpp"

namespace xtts::loader {
namespace {

constexpr std::size_t kArrayAlignment = 256;

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

std::uint64_t bits_of(double value, DType dtype) {
  const auto number = static_cast<float>(value);
  switch (dtype) {
    case DType::kFloat32:
      return std::bit_cast<std::uint32_t>(number);
    case DType::kFloat16:
      return to_float16(number);
    case DType::kBFloat16:
      return to_bfloat16(number);
    case DType::kInt32:
    case DType::kInt16:
    case DType::kUInt8:
    case DType::kInt64:
      break;
  }
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

template <typename Integer>
bool holds(double value) {
  // As a double, int64's upper bound is 2^63, which int64 does not hold: hence < and not <=.
  return value == std::floor(value) &&
         value >= static_cast<double>(std::numeric_limits<Integer>::min()) &&
         value < static_cast<double>(std::numeric_limits<Integer>::max()) + 1.0;
}

bool can_hold(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kBFloat16:
      return !std::isfinite(value) || std::isfinite(static_cast<float>(value));
    case DType::kFloat16:
      return !std::isfinite(value) || std::abs(value) <= 65504.0;
    case DType::kInt32:
      return holds<std::int32_t>(value);
    case DType::kInt16:
      return holds<std::int16_t>(value);
    case DType::kUInt8:
      return holds<std::uint8_t>(value);
    case DType::kInt64:
      return holds<std::int64_t>(value);
  }
  return false;
}

Status check_pad_value(const ColumnRequest& request, DType dtype) {
  if (!request.pad_value || can_hold(dtype, *request.pad_value)) return {};
  return {StatusCode::kInvalidArgument,
          formatted("column '{}' holds {}, which cannot hold the pad_value asked for", request.name,
                    to_string(dtype))};
}

// Refuses a column that lacks clips. Otherwise the user would learn of it in mid-epoch.
Status check_complete(const reader::ClipSet& clips, const reader::SharedColumn& column) {
  const formats::ColumnEntry& entry = *column.entry;
  if (entry.missing_count == 0) return {};
  return {StatusCode::kNotFound,
          formatted("{}: column '{}' lacks {} of {}, which came or changed after it was added: "
                    "call add_column again to make them, or read other columns",
                    clips.path(), entry.spec.name, entry.missing_count,
                    counted(clips.whole().counts.records, "clip", "clips"))};
}

float largest_finite(DType dtype) noexcept {
  if (dtype == DType::kFloat16) return from_float16(kLargestFloat16);
  if (dtype == DType::kBFloat16) return from_bfloat16(kLargestBFloat16);
  return std::numeric_limits<float>::max();
}

// True where a finite stored value may become infinite in the dtype of the batch. A value that
// overflows a float32 does not count: NumPy's numbers do so, too.
bool may_overflow(DType from, const ChannelNorm* norm, DType to) {
  if (to == DType::kFloat32 || !is_float(to)) return false;
  double largest = largest_finite(from);
  if (norm != nullptr) {
    const double stored = largest;
    largest = 0.0;
    for (std::size_t i = 0; i < norm->channel_count(); ++i) {
      const double mean = std::abs(static_cast<double>(norm->means()[i]));
      largest = std::max(largest, (stored + mean) / static_cast<double>(norm->divisors()[i]));
    }
  }
  return largest > static_cast<double>(largest_finite(to));
}

std::uint32_t shorter(std::uint32_t rows, std::uint64_t limit) {
  return limit == 0 ? rows : static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, limit));
}

Result<ColumnLayout> lay_out_column(const reader::ClipSet& clips, const ColumnRequest& request,
                                    const LengthLimits& limits) {
  ColumnLayout layout;
  layout.shared = clips.find_column(request.name);
  if (layout.shared == nullptr) {
    std::string names;
    for (const auto& column : clips.columns()) {
      names += (names.empty() ? "" : ", ") + column.entry->spec.name;
    }
    return Status(StatusCode::kNotFound,
                  formatted("the cache has no column '{}'; it has: {}", request.name, names));
  }
  layout.column = layout.shared->entry;
  XTTS_TRY(check_complete(clips, *layout.shared));
  const formats::ColumnSpec& spec = layout.column->spec;
  layout.dtype = request.dtype.value_or(spec.dtype);
  if (layout.is_converted() && !(is_float(spec.dtype) && is_float(layout.dtype))) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("column '{}' holds {}, which a reader does not convert to {}",
                            request.name, to_string(spec.dtype), to_string(layout.dtype)));
  }
  XTTS_TRY(check_pad_value(request, layout.dtype));
  layout.pad_value = request.pad_value;
  XTTS_ASSIGN(layout.norm, find_norm(clips, *layout.shared, request));
  layout.may_overflow =
      layout.is_changed() && may_overflow(spec.dtype, layout.norm.get(), layout.dtype);
  layout.stored_row_bytes = spec.row_bytes();
  layout.row_bytes = spec.row_bytes() / size_bytes(spec.dtype) * size_bytes(layout.dtype);
  layout.rows_per_frame = clips.rows_per_frame(*layout.column);
  layout.row_count =
      axis_of(*layout.column) == formats::Axis::kTokens
          ? shorter(spec.shape[0], limits.tokens_max)
          : shorter(spec.shape[0], std::uint64_t{limits.frames_max} * layout.rows_per_frame);
  layout.record_bytes = layout.row_bytes * layout.row_count;
  return layout;
}

}  // namespace

device::Pattern ColumnLayout::padding(std::uint32_t fill_bits) const noexcept {
  double value = pad_value.value_or(formats::fill_number(column->spec.dtype, fill_bits));
  if (is_padding_saturated(fill_bits)) value = std::copysign(largest_finite(dtype), value);
  return {bits_of(value, dtype), size_bytes(dtype)};
}

bool ColumnLayout::is_padding_saturated(std::uint32_t fill_bits) const noexcept {
  if (!may_overflow || pad_value) return false;
  const double value = formats::fill_number(column->spec.dtype, fill_bits);
  return std::isfinite(value) && std::abs(value) > largest_that_fits(dtype);
}

Result<BatchLayout> BatchLayout::plan(const reader::ClipSet& clips,
                                      const std::vector<ColumnRequest>& requests,
                                      std::uint32_t batch_size, const LengthLimits& limits) {
  BatchLayout layout;
  layout.batch_size = batch_size;
  const auto place = [](std::size_t& end, std::uint64_t size_bytes) {
    end = align_up(end, size_bytes >= formats::kPageBytes ? formats::kPageBytes : kArrayAlignment);
    const std::size_t offset = end;
    end += size_bytes;
    return offset;
  };
  for (const ColumnRequest& request : requests) {
    for (const ColumnLayout& other : layout.columns) {
      if (other.column->spec.name == request.name) {
        return Status(StatusCode::kInvalidArgument,
                      formatted("column '{}' is asked for twice", request.name));
      }
    }
    XTTS_ASSIGN(ColumnLayout column, lay_out_column(clips, request, limits));
    // A record has at most 256 MiB here, a batch 2^20 rows, a cache fewer than 2^15 columns: no
    // overflow.
    column.offset_bytes = place(layout.size.staging, column.record_bytes * batch_size);
    layout.size.has_changes = layout.size.has_changes || column.may_be_changed_by_device();
    layout.columns.push_back(column);
  }
  const std::uint64_t ints_bytes = std::uint64_t{batch_size} * sizeof(std::int32_t);
  std::size_t& host_end = layout.size.host;
  for (ColumnLayout& column : layout.columns) {
    column.lengths_offset_bytes = place(host_end, ints_bytes);
  }
  layout.speakers_offset_bytes = place(host_end, ints_bytes);
  layout.languages_offset_bytes = place(host_end, ints_bytes);
  return layout;
}

}  // namespace xtts::loader
