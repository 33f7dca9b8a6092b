#include "verify/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

#include "base/channel_norm.hpp"
#include "base/half.hpp"
#include "formats/enum_names.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "formats/sound_columns.hpp"
#include "records/columns.hpp"

namespace xtts::verify {
namespace {

using formats::NamedFact;

constexpr double kDoubleFftError = 1e-5;  // of the formula, natural-log units
constexpr double kFloat32FftError = 1.3e-3;
constexpr double kSampleError = 1e-6;  // of resampling and loudness in float32

std::string hex_of(std::span<const std::byte> bytes, std::size_t offset) {
  std::string text;
  for (std::size_t i = offset; i < std::min(offset + 8, bytes.size()); ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x ", std::to_integer<unsigned>(bytes[i]));
    text += digits;
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::optional<Difference> differing_number(const char* what, std::uint64_t expected,
                                           std::uint64_t found) {
  if (expected == found) return std::nullopt;
  return Difference{
      .part = what, .offset_bytes = {}, .expected = number(expected), .found = number(found)};
}

std::optional<Difference> differing_rows(const ExpectedRecord& expected,
                                         const StoredRecord& stored) {
  const auto [at, other] = std::ranges::mismatch(expected.rows, stored.rows);
  if (at == expected.rows.end()) return std::nullopt;
  const auto offset = static_cast<std::size_t>(at - expected.rows.begin());
  return Difference{.part = "bytes",
                    .offset_bytes = stored.offset_bytes + offset,
                    .expected = {"text", hex_of(expected.rows, offset)},
                    .found = {"text", hex_of(stored.rows, offset)}};
}

std::map<std::uint16_t, NamedFact> facts_by_tag(const formats::RecordFacts& facts,
                                                const std::set<std::uint16_t>& tags) {
  std::map<std::uint16_t, NamedFact> by_tag;
  for (NamedFact& fact : formats::list_facts(facts)) {
    if (tags.contains(fact.tag)) by_tag.emplace(fact.tag, std::move(fact));
  }
  return by_tag;
}

std::optional<Difference> differing_facts(const ExpectedRecord& expected,
                                          const StoredRecord& stored,
                                          const std::set<std::uint16_t>& tags) {
  const auto made = facts_by_tag(expected.facts, tags);
  const auto kept = facts_by_tag(stored.facts, tags);
  for (const std::uint16_t tag : tags) {
    const auto a = made.find(tag);
    const auto b = kept.find(tag);
    if (a == made.end() && b == kept.end()) continue;
    if (a != made.end() && b != kept.end() && a->second.bytes == b->second.bytes) continue;
    const auto text_of = [](bool is_there, auto fact) {
      return is_there ? Evidence("text", fact->second.text) : not_known();
    };
    return Difference{.part = std::string(a != made.end() ? a->second.name : b->second.name),
                      .offset_bytes = stored.facts_offset_bytes,
                      .expected = text_of(a != made.end(), a),
                      .found = text_of(b != kept.end(), b)};
  }
  return std::nullopt;
}

// Gives the number of values, and each value as a float.
class Values {
 public:
  Values(DType dtype, std::span<const std::byte> bytes) : dtype_(dtype), bytes_(bytes) {}

  [[nodiscard]] std::size_t size() const { return bytes_.size() / size_bytes(dtype_); }
  [[nodiscard]] double at(std::size_t i) const {
    if (dtype_ == DType::kFloat32) {
      float value = 0.0F;
      std::memcpy(&value, bytes_.data() + i * sizeof value, sizeof value);
      return static_cast<double>(value);
    }
    std::uint16_t half = 0;
    std::memcpy(&half, bytes_.data() + i * sizeof half, sizeof half);
    if (dtype_ == DType::kInt16) return std::bit_cast<std::int16_t>(half);
    return static_cast<double>(dtype_ == DType::kFloat16 ? from_float16(half)
                                                         : from_bfloat16(half));
  }

 private:
  DType dtype_;
  std::span<const std::byte> bytes_;
};

// Returns half a step of the dtype, relative to the value.
double rounding_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p-11;
    case DType::kBFloat16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

bool is_within(const Tolerance& tolerance, std::size_t channel, double expected, double found) {
  // This also accepts equal infinities, and a NaN for a NaN.
  if (expected == found || (std::isnan(expected) && std::isnan(found))) return true;
  const double apart = std::abs(expected - found);
  const double size = std::max(std::abs(expected), std::abs(found));
  if (tolerance.baked_mean.empty()) return apart <= tolerance.absolute + tolerance.relative * size;
  // Takes both values back to their state before baking.
  const double mean = tolerance.baked_mean[channel];
  const double divisor = std::max(tolerance.baked_deviation[channel], kDeviationMin);
  const double size_before =
      std::max(std::abs(expected * divisor + mean), std::abs(found * divisor + mean));
  return apart * divisor <= tolerance.absolute + tolerance.relative * size_before +
                                tolerance.relative_baked * size * divisor;
}

std::optional<Difference> values_apart(const Tolerance& tolerance, DType dtype,
                                       const ExpectedRecord& expected, const StoredRecord& stored) {
  const Values made(dtype, expected.rows);
  const Values kept(dtype, stored.rows);
  const std::size_t count = std::min(made.size(), kept.size());
  const std::size_t channel_count = std::max<std::size_t>(tolerance.baked_mean.size(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (is_within(tolerance, i % channel_count, made.at(i), kept.at(i))) continue;
    return Difference{.part = "value",
                      .offset_bytes = stored.offset_bytes + i * size_bytes(dtype),
                      .expected = {"text", text_of(made.at(i))},
                      .found = {"text", text_of(kept.at(i))}};
  }
  return std::nullopt;
}

Evidence number_of(const std::optional<std::uint64_t>& value) {
  return value ? number(*value) : not_known();
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

// Compares positions in the sound, in samples at the recipe's rate, and the source's length in its
// own rate.
std::optional<Difference> positions_apart(const ExpectedRecord& expected,
                                          const StoredRecord& stored,
                                          const formats::Recipe& recipe) {
  const std::uint64_t hop = recipe.features->stft.hop_samples;
  const auto check = [&](const char* what, const std::optional<std::uint64_t>& made,
                         const std::optional<std::uint64_t>& kept,
                         std::uint64_t frame) -> std::optional<Difference> {
    if (made && kept && distance(*made, *kept) <= frame) return std::nullopt;
    if (!made && !kept) return std::nullopt;
    return Difference{.part = what,
                      .offset_bytes = stored.facts_offset_bytes,
                      .expected = number_of(made),
                      .found = number_of(kept)};
  };
  const std::uint64_t rate = stored.facts.source_rate_hz.value_or(recipe.features->sample_rate_hz);
  const std::uint64_t source_frame = hop * rate / recipe.features->sample_rate_hz + 1;
  auto difference =
      check("trim start", expected.facts.trim_start_samples, stored.facts.trim_start_samples, hop);
  if (!difference) {
    difference =
        check("trim end", expected.facts.trim_end_samples, stored.facts.trim_end_samples, hop);
  }
  if (!difference) {
    difference = check("source frames", expected.facts.source_frame_count,
                       stored.facts.source_frame_count, source_frame);
  }
  return difference;
}

// The facts that do not depend on rounding: file, rate, channels, segment.
const std::set<std::uint16_t> kExactTags = {9, 13, 14, 31, 32};

}  // namespace

std::optional<Difference> compare_bits(const ExpectedRecord& expected, const StoredRecord& stored,
                                       const std::set<std::uint16_t>& tags) {
  if (auto difference = differing_number("length", expected.length, stored.length))
    return difference;
  if (auto difference = differing_number("fill bits", expected.fill_bits, stored.fill_bits))
    return difference;
  if (auto difference = differing_rows(expected, stored)) return difference;
  return differing_facts(expected, stored, tags);
}

namespace {

// Returns the tolerance for results of the recipe's chain, rounded to `dtype`.
Tolerance tolerance_before_baking(const formats::FeatureConfig& features,
                                  const formats::ColumnSpec& column, DType dtype) {
  const auto* const sound = formats::find_sound_column(column.name);
  if (sound != nullptr && sound->counts_samples)
    return {.absolute = dtype == DType::kInt16 ? 1.0 : kSampleError, .relative = 0.0};
  const double natural_log =
      2.0 *
      (features.precision == formats::Precision::kDouble ? kDoubleFftError : kFloat32FftError);
  const double rounding = 2.0 * rounding_of(dtype);
  if (features.log.base == formats::LogBase::kNone || !records::has_sums(column))
    return {.absolute = 0.0, .relative = natural_log + rounding};
  double absolute = natural_log;
  if (features.log.base == formats::LogBase::kTen) absolute /= std::log(10.0);
  if (features.normalize.method == formats::NormalizeMethod::kAffine)
    absolute /= std::abs(features.normalize.scale);
  return {.absolute = absolute, .relative = rounding};
}

}  // namespace

Tolerance tolerance_of(const formats::Recipe& recipe, const formats::ColumnSpec& column) {
  const formats::BakedConfig& baked = recipe.features->baked;
  if (!baked.is_baked() || !records::has_sums(column))
    return tolerance_before_baking(*recipe.features, column, column.dtype);
  Tolerance tolerance = tolerance_before_baking(*recipe.features, column, baked.dtype);
  tolerance.baked_mean = baked.mean;
  tolerance.baked_deviation = baked.std_deviation;
  // The rounding of the subtraction, the division and the dtype.
  tolerance.relative_baked = 2.0 * (rounding_of(column.dtype) + 2.0 * rounding_of(DType::kFloat32));
  return tolerance;
}

std::optional<Difference> compare_within(const Tolerance& tolerance,
                                         const formats::ColumnSpec& column,
                                         const ExpectedRecord& expected, const StoredRecord& stored,
                                         const formats::Recipe& recipe) {
  if (auto difference = differing_number("fill bits", expected.fill_bits, stored.fill_bits))
    return difference;
  if (auto difference = differing_facts(expected, stored, kExactTags)) return difference;
  const auto* const sound = formats::find_sound_column(column.name);
  const bool counts_samples = sound != nullptr && sound->counts_samples;
  const std::uint32_t frame_rows = counts_samples ? recipe.features->stft.hop_samples : 1;
  if (distance(expected.length, stored.length) > frame_rows)
    return differing_number("length", expected.length, stored.length);
  if (auto difference = positions_apart(expected, stored, recipe)) return difference;
  const auto& made = expected.facts;
  const auto& kept = stored.facts;
  auto difference = values_apart(tolerance, column.dtype, expected, stored);
  if (!difference) return std::nullopt;
  difference->is_beyond_comparison = made.pcm_digest != kept.pcm_digest ||
                                     made.trim_start_samples != kept.trim_start_samples ||
                                     made.trim_end_samples != kept.trim_end_samples;
  return difference;
}

}  // namespace xtts::verify
