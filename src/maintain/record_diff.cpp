#include "maintain/record_diff.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/half.hpp"
#include "formats/bytes.hpp"

namespace xtts::maintain {
namespace {

using reader::RecordData;

// 64-bit integers beyond 2^53 lose their last digits here. Their bytes decide whether they differ.
double value_at(const RecordData& record, std::size_t index) {
  const std::span<const std::byte> bytes = record.bytes;
  const std::size_t offset = index * size_bytes(record.dtype);
  switch (record.dtype) {
    case DType::kFloat32:
      return static_cast<double>(std::bit_cast<float>(formats::load<std::uint32_t>(bytes, offset)));
    case DType::kFloat16:
      return static_cast<double>(from_float16(formats::load<std::uint16_t>(bytes, offset)));
    case DType::kBFloat16:
      return static_cast<double>(from_bfloat16(formats::load<std::uint16_t>(bytes, offset)));
    case DType::kInt32:
      return formats::load<std::int32_t>(bytes, offset);
    case DType::kInt16:
      return formats::load<std::int16_t>(bytes, offset);
    case DType::kUInt8:
      return std::to_integer<std::uint8_t>(bytes[offset]);
    case DType::kInt64:
      return static_cast<double>(formats::load<std::int64_t>(bytes, offset));
  }
  return 0.0;
}

double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0.0;
  const double apart = std::abs(a - b);
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

std::size_t row_values(const RecordData& record) {
  std::size_t count = 1;
  for (std::size_t axis = 1; axis < record.shape.size(); ++axis) count *= record.shape[axis];
  return count;
}

bool same_bits(const RecordData& a, const RecordData& b, std::size_t index) {
  const std::size_t size = size_bytes(a.dtype);
  const auto at = static_cast<std::ptrdiff_t>(index * size);
  return std::equal(a.bytes.begin() + at, a.bytes.begin() + at + static_cast<std::ptrdiff_t>(size),
                    b.bytes.begin() + at);
}

void compare_values(const RecordData& a, const RecordData& b, RecordDifference& out) {
  const std::size_t row = row_values(a);
  for (std::size_t i = 0; i < out.value_count; ++i) {
    const bool same_dtype = a.dtype == b.dtype;
    if (same_dtype && same_bits(a, b, i)) continue;
    const double apart = distance(value_at(a, i), value_at(b, i));
    if (!same_dtype && apart == 0.0) continue;
    // Some values differ in bits alone, like 0.0 and -0.0. The first difference stands for them.
    if (out.differing_count == 0 || apart > out.max_abs) {
      out.max_abs = apart;
      out.row = static_cast<std::uint32_t>(i / row);
      out.channel = static_cast<std::uint32_t>(i % row);
    }
    out.sum_abs += apart;
    ++out.differing_count;
  }
}

}  // namespace

std::uint64_t value_count(const RecordData& record) noexcept {
  return record.bytes.size() / size_bytes(record.dtype);
}

std::optional<RecordDifference> compare_records(const RecordData& a, const RecordData& b) {
  RecordDifference out;
  out.length_a = a.shape[0];
  out.length_b = b.shape[0];
  out.fills_differ = a.fill_bits != b.fill_bits;
  out.value_count = std::min(value_count(a), value_count(b));
  const bool same_bytes = a.dtype == b.dtype && a.bytes == b.bytes;
  if (!same_bytes) compare_values(a, b, out);
  if (out.length_a == out.length_b && !out.fills_differ && out.differing_count == 0) return {};
  return out;
}

}  // namespace xtts::maintain
