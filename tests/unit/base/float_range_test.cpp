// The answers of range_of about numbers, against the results of the conversions.
#include "base/float_range.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/half.hpp"

namespace xtts {
namespace {

constexpr std::array kNarrow = {DType::kFloat16, DType::kBFloat16};

float stored(float number, DType to) {
  return to == DType::kFloat16 ? from_float16(to_float16(number))
                               : from_bfloat16(to_bfloat16(number));
}

std::vector<float> any_bits(std::size_t count, std::mt19937& random) {
  std::vector<float> numbers(count);
  for (float& number : numbers) number = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  return numbers;
}

TEST(FloatRange, LargestThatFitsIsTheLastBeforeInfinity) {
  for (const DType to : kNarrow) {
    const float last = largest_that_fits(to);
    EXPECT_TRUE(std::isfinite(stored(last, to))) << to_string(to);
    const float next = std::nextafter(last, std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isinf(stored(next, to))) << to_string(to);
  }
}

TEST(FloatRange, CountsWhatTheConversionMakesZero) {
  std::mt19937 random(7);
  for (const DType to : kNarrow) {
    // Around the last magnitude that vanishes, and everywhere.
    std::vector<float> numbers = any_bits(10'000, random);
    const float edge = to == DType::kFloat16 ? 0x1p-25F : 0x1p-134F;
    for (const float number : {edge, std::nextafter(edge, 1.0F), std::nextafter(edge, 0.0F)}) {
      numbers.push_back(number);
      numbers.push_back(-number);
    }
    numbers.insert(numbers.end(), {0.0F, -0.0F});
    std::uint64_t expected = 0;
    for (const float number : numbers)
      expected += number != 0.0F && stored(number, to) == 0.0F ? 1U : 0U;
    EXPECT_GT(expected, 0U);
    EXPECT_EQ(range_of(numbers, to).vanishing_count, expected) << to_string(to);
    EXPECT_EQ(range_of(numbers).vanishing_count, 0U) << "of float32";
  }
}

TEST(FloatRange, SeesTheOneNumberThatIsNotFiniteWhereverItLies) {
  for (const float odd :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> numbers(37, std::numeric_limits<float>::max());
    EXPECT_TRUE(range_of(numbers).is_finite());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const float before = std::exchange(numbers[i], odd);
      EXPECT_FALSE(range_of(numbers).is_finite()) << odd << " at " << i;
      numbers[i] = before;
    }
  }
}

TEST(FloatRange, FormsAgree) {
  std::mt19937 random(11);
  for (std::size_t count = 0; count < 200; ++count) {
    const std::vector<float> numbers = any_bits(count, random);
    for (const DType to : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      const FloatRange best = range_of(numbers, to);
      const FloatRange scalar = range_of(numbers, to, RangePath::kScalar);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(best.largest),
                std::bit_cast<std::uint32_t>(scalar.largest));
      EXPECT_EQ(best.vanishing_count, scalar.vanishing_count);
    }
  }
}

TEST(CountNonfinite, CountsThemInEachFloatTypeAndNoneOfIntegers) {
  const std::vector<std::uint32_t> singles = {0x7F800000, 0xFF800000, 0x7FC00001, 0x7F7FFFFF, 0};
  EXPECT_EQ(count_nonfinite(std::as_bytes(std::span(singles)), DType::kFloat32), 3U);
  EXPECT_EQ(count_nonfinite(std::as_bytes(std::span(singles)), DType::kInt32), 0U);
  const std::vector<std::uint16_t> halves = {0x7C00, 0xFC00, 0x7E00, 0x7BFF, 0x7F80, 0x7F7F};
  EXPECT_EQ(count_nonfinite(std::as_bytes(std::span(halves)), DType::kFloat16), 5U);
  EXPECT_EQ(count_nonfinite(std::as_bytes(std::span(halves)), DType::kBFloat16), 1U);
}

// The vectors count as one look after the other does, at any length and place.
TEST(CountNonfinite, CountsAlikeAtEachLengthAndPlace) {
  std::mt19937 random(7);
  std::vector<std::uint16_t> halves(700);
  for (auto& half : halves)
    half = static_cast<std::uint16_t>(random() | (random() % 4 == 0 ? 0x7F80U : 0U));
  const auto bytes = std::as_bytes(std::span(halves));
  for (std::size_t first = 0; first < 20; ++first) {
    for (std::size_t size = 0; size + first <= bytes.size(); size += 1 + size / 7) {
      const auto part = bytes.subspan(first, size);
      for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32}) {
        std::uint64_t wanted = 0;
        for (std::size_t at = 0; at + size_bytes(dtype) <= size; at += size_bytes(dtype))
          wanted += count_nonfinite(part.subspan(at, size_bytes(dtype)), dtype);
        ASSERT_EQ(count_nonfinite(part, dtype), wanted) << first << " " << size;
      }
    }
  }
  // More than a lane of 16 bits counts.
  const std::vector<std::uint16_t> all(std::size_t{3} << 20U, 0x7C00);
  EXPECT_EQ(count_nonfinite(std::as_bytes(std::span(all)), DType::kFloat16), all.size());
}

TEST(FloatRange, IsZeroOfNothing) {
  EXPECT_EQ(range_of({}).largest, 0.0F);
  EXPECT_TRUE(range_of({}).is_finite());
}

}  // namespace
}  // namespace xtts
