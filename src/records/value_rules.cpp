#include "records/value_rules.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/convert_floats.hpp"
#include "base/float_range.hpp"
#include "formats/rules.hpp"

namespace xtts::records {
namespace {

using formats::Reason;
using formats::Rule;

ValueVerdict refused(Rule rule, std::string_view column, float largest) {
  return {.refusal = Reason{.rule = rule,
                            .numbers = {static_cast<double>(largest)},
                            .detail = std::string(column)}};
}

ValueVerdict warned(Rule rule, std::string_view column, double share) {
  return {.warning = Reason{.rule = rule, .numbers = {share}, .detail = std::string(column)}};
}

}  // namespace

ValueVerdict check_values(std::string_view column, std::span<const float> values, DType dtype) {
  const FloatRange range = range_of(values, dtype);
  if (!range.is_finite()) return refused(Rule::kValuesNotFinite, column, 0.0F);
  const bool is_float16 = dtype == DType::kFloat16;
  if (range.largest > largest_that_fits(dtype)) {
    return refused(is_float16 ? Rule::kBeyondFloat16 : Rule::kBeyondBfloat16, column,
                   range.largest);
  }
  if (values.empty()) return {};
  const double share =
      static_cast<double>(range.vanishing_count) / static_cast<double>(values.size());
  if (share < kVanishedShareTold) return {};
  return warned(is_float16 ? Rule::kVanishedInFloat16 : Rule::kVanishedInBfloat16, column, share);
}

ValueVerdict check_int16_wave(std::span<const float> samples) {
  const FloatRange range = range_of(samples);
  if (!range.is_finite()) return refused(Rule::kValuesNotFinite, "wave", 0.0F);
  if (range.largest <= 1.0F) return {};
  if (range.largest > kWavePeakMax) return refused(Rule::kBeyondInt16, "wave", range.largest);
  const auto cut = static_cast<std::uint64_t>(
      std::ranges::count_if(samples, [](float sample) { return std::abs(sample) > 1.0F; }));
  const double share = static_cast<double>(cut) / static_cast<double>(samples.size());
  if (share < kCutShareTold) return {};
  return warned(Rule::kCutAtFullScale, "wave", share);
}

ValueVerdict change_rows(std::string_view column, std::span<const std::byte> rows, DType from,
                         const ChannelNorm* norm, DType to, std::vector<std::byte>& changed) {
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
  ValueVerdict verdict = check_values(column, values, to);
  if (verdict.refusal) return verdict;
  changed.resize(count * size_bytes(to));
  narrow_floats(values, to, changed);
  return verdict;
}

}  // namespace xtts::records
