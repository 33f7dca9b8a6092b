#include "maintain/record_diff.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>

#include "base/half.hpp"

namespace xtts::maintain {
namespace {

using reader::RecordData;

template <typename Value>
RecordData record(DType dtype, const std::vector<Value>& values, std::uint32_t channels) {
  RecordData out;
  out.dtype = dtype;
  out.shape = {static_cast<std::uint32_t>(values.size()) / channels, channels};
  const auto bytes = std::as_bytes(std::span(values));
  out.bytes.assign(bytes.begin(), bytes.end());
  return out;
}

RecordData floats(const std::vector<float>& values, std::uint32_t channels = 2) {
  return record(DType::kFloat32, values, channels);
}

RecordData halves(DType dtype, const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float value : values)
    bits.push_back(dtype == DType::kFloat16 ? to_float16(value) : to_bfloat16(value));
  return record(dtype, bits, 2);
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(RecordDifference, IsNoneOfTheSameBits) {
  EXPECT_FALSE(compare_records(floats({1, kNan, 3, 4}), floats({1, kNan, 3, 4})));
  EXPECT_FALSE(compare_records(floats({}), floats({})));
}

TEST(RecordDifference, TellsHowMuchAndWhere) {
  const auto difference =
      compare_records(floats({1, 2, 3, 4, 5, 6}), floats({1, 2, 3, 4.5F, 5, 5.75F}));
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->value_count, 6U);
  EXPECT_EQ(difference->differing_count, 2U);
  EXPECT_EQ(difference->max_abs, 0.5);
  EXPECT_EQ(difference->mean_abs(), 0.75 / 6);
  EXPECT_EQ(difference->row, 1U);
  EXPECT_EQ(difference->channel, 1U);
  EXPECT_TRUE(difference->is_within(0.5));
  EXPECT_FALSE(difference->is_within(0.49));
}

TEST(RecordDifference, OfLengthsComparesTheRowsThatBothHave) {
  const auto difference = compare_records(floats({1, 2, 3, 4}), floats({1, 2}));
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->length_a, 2U);
  EXPECT_EQ(difference->length_b, 1U);
  EXPECT_EQ(difference->value_count, 2U);
  EXPECT_EQ(difference->differing_count, 0U);
  EXPECT_FALSE(difference->is_within(1e9));
}

TEST(RecordDifference, OfPaddingIsOne) {
  RecordData other = floats({1, 2});
  other.fill_bits = 7;
  const auto difference = compare_records(floats({1, 2}), other);
  ASSERT_TRUE(difference);
  EXPECT_TRUE(difference->fills_differ);
  EXPECT_EQ(difference->differing_count, 0U);
}

TEST(RecordDifference, OfBitsAloneIsOneOfZero) {
  const auto difference = compare_records(floats({1, 0.0F}), floats({1, -0.0F}));
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->differing_count, 1U);
  EXPECT_EQ(difference->max_abs, 0.0);
  EXPECT_EQ(difference->channel, 1U);
  EXPECT_TRUE(difference->is_within(0.0));
}

TEST(RecordDifference, OfANumberAgainstNanOrInfinityIsInfinite) {
  for (const float odd : {kNan, kInfinity, -kInfinity}) {
    const auto difference = compare_records(floats({1, 2}), floats({1, odd}));
    ASSERT_TRUE(difference);
    EXPECT_TRUE(std::isinf(difference->max_abs));
    EXPECT_TRUE(std::isinf(difference->mean_abs()));
  }
}

TEST(RecordDifference, ComparesHalvesAsNumbers) {
  // 1/3 is in neither half; 0.5, NaN and infinity are in both.
  const std::vector<float> values = {0.5F, 1.0F / 3.0F, kNan, kInfinity};
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const auto difference = compare_records(floats(values), halves(dtype, values));
    ASSERT_TRUE(difference) << to_string(dtype);
    EXPECT_EQ(difference->differing_count, 1U);
    const float widened = dtype == DType::kFloat16 ? from_float16(to_float16(values[1]))
                                                   : from_bfloat16(to_bfloat16(values[1]));
    EXPECT_EQ(difference->max_abs,
              std::abs(static_cast<double>(values[1]) - static_cast<double>(widened)));
    EXPECT_EQ(difference->row, 0U);
    EXPECT_EQ(difference->channel, 1U);
    EXPECT_FALSE(compare_records(floats({0.5F, -2.0F}), halves(dtype, {0.5F, -2.0F})));
  }
}

TEST(RecordDifference, ComparesIntegersOfAnyWidth) {
  const auto narrow = record<std::int16_t>(DType::kInt16, {1, -2, 3}, 1);
  const auto wide = record<std::int32_t>(DType::kInt32, {1, -2, 70000}, 1);
  const auto difference = compare_records(narrow, wide);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->differing_count, 1U);
  EXPECT_EQ(difference->max_abs, 69997.0);
  const auto bytes = record<std::uint8_t>(DType::kUInt8, {1, 255}, 1);
  EXPECT_FALSE(compare_records(bytes, record<std::int64_t>(DType::kInt64, {1, 255}, 1)));
}

TEST(RecordDifference, OfLargeIntegersIsFoundByTheirBits) {
  const std::int64_t large = std::int64_t{1} << 60U;
  const auto difference = compare_records(record<std::int64_t>(DType::kInt64, {large}, 1),
                                          record<std::int64_t>(DType::kInt64, {large + 1}, 1));
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->differing_count, 1U);
}

}  // namespace
}  // namespace xtts::maintain
