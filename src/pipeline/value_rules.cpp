#include "pipeline/value_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/convert_floats.hpp"
#include "base/float_range.hpp"
#include "base/try.hpp"

namespace xtts::pipeline {
namespace {

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string percent_text(std::uint64_t count, std::size_t of) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%",
                1e2 * static_cast<double>(count) / static_cast<double>(of));
  return text;
}

Status not_finite(std::string_view column) {
  return {StatusCode::kBadInput,
          "column " + std::string(column) + ": values beyond float32, or no numbers"};
}

}  // namespace

Result<ValueWarning> check_values(std::string_view column, std::span<const float> values,
                                  DType dtype) {
  const FloatRange range = range_of(values, dtype);
  if (!range.is_finite()) return not_finite(column);
  if (range.largest > largest_that_fits(dtype)) {
    // bfloat16 reaches as far as float32, but for its last half step.
    const char* const remedy = dtype == DType::kFloat16 ? "bfloat16 or float32" : "float32";
    return Status(StatusCode::kUnsupported, "column " + std::string(column) + " reaches " +
                                                number_text(static_cast<double>(range.largest)) +
                                                ", beyond " + std::string(to_string(dtype)) +
                                                ": --dtype " + remedy + " holds it");
  }
  const double share = static_cast<double>(range.vanishing_count);
  if (values.empty() || share < kVanishedShareTold * static_cast<double>(values.size()))
    return ValueWarning();
  return ValueWarning(
      "column " + std::string(column) + ": " + percent_text(range.vanishing_count, values.size()) +
      " of its values are too small for " + std::string(to_string(dtype)) + " and became 0");
}

Result<ValueWarning> check_int16_wave(std::span<const float> samples) {
  const FloatRange range = range_of(samples);
  if (!range.is_finite()) return not_finite("wave");
  if (range.largest <= 1.0F) return ValueWarning();
  if (range.largest > kWavePeakMax) {
    return Status(StatusCode::kUnsupported,
                  "column wave reaches " + number_text(static_cast<double>(range.largest)) +
                      " times full scale, and int16 holds full scale: columns.wave=float32 or "
                      "loudness.method=limit keeps it");
  }
  const auto cut = static_cast<std::uint64_t>(
      std::ranges::count_if(samples, [](float sample) { return std::abs(sample) > 1.0F; }));
  if (static_cast<double>(cut) < kCutShareTold * static_cast<double>(samples.size()))
    return ValueWarning();
  return ValueWarning("column wave: " + percent_text(cut, samples.size()) +
                      " of its samples are beyond full scale and were cut there");
}

Result<ValueWarning> change_rows(std::string_view column, std::span<const std::byte> rows,
                                 DType from, const ChannelNorm* norm, DType to,
                                 std::vector<std::byte>& changed) {
  const std::size_t count = rows.size() / size_bytes(from);
  std::vector<float> between;
  std::span<const float> values;
  if (norm == nullptr && from == DType::kFloat32) {
    values = numbers_in<float>(rows);
  } else {
    between.resize(count);
    const auto bytes = std::as_writable_bytes(std::span(between));
    if (norm != nullptr) {
      norm->apply(rows, from, bytes, DType::kFloat32);
    } else {
      widen_floats(rows, from, between);
    }
    values = between;
  }
  XTTS_ASSIGN(const ValueWarning warning, check_values(column, values, to));
  changed.resize(count * size_bytes(to));
  if (to == DType::kFloat32) {
    std::ranges::copy(std::as_bytes(values), changed.begin());
  } else {
    narrow_floats(values, to, changed);
  }
  return warning;
}

void add_warning(const ValueWarning& warning, formats::RecordFacts& facts) {
  if (!warning) return;
  if (!facts.warnings) {
    facts.warnings = *warning;
  } else {
    *facts.warnings += '\n' + *warning;
  }
}

}  // namespace xtts::pipeline
