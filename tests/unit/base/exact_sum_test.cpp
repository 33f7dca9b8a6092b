#include "base/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace xtts {
namespace {

ExactSum sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum;
}

std::vector<double> random_values(std::size_t count, int exponent_max) {
  std::mt19937_64 random(7);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const auto mantissa = static_cast<double>(static_cast<std::int64_t>(random()));
    const int exponent =
        static_cast<int>(random() % (2 * static_cast<unsigned>(exponent_max))) - exponent_max - 63;
    values.push_back(std::ldexp(mantissa, exponent));
  }
  return values;
}

TEST(ExactSum, LosesNothing) {
  EXPECT_EQ(sum_of({1e308, 1e308, 1.0, -1e308, -1e308}).rounded(), 1.0);
  EXPECT_EQ(sum_of({1e16, 1.0, 1.0}).rounded(), 10000000000000002.0);
  EXPECT_EQ(sum_of({0.1, 0.2, 0.3, -0.6}).to_text(), "0x1p-55");  // as math.fsum() of Python
  EXPECT_EQ(sum_of({std::numeric_limits<double>::denorm_min(), -0.0}).rounded(),
            std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(sum_of({}).rounded(), 0.0);
  EXPECT_EQ(sum_of({1.5, -1.5}).to_text(), "0x0p0");
}

TEST(ExactSum, RoundsTiesToEven) {
  const double half = std::ldexp(1.0, -53);
  EXPECT_EQ(sum_of({1.0, half}).rounded(), 1.0);
  EXPECT_EQ(sum_of({1.0, half, 1e-300}).rounded(), std::nextafter(1.0, 2.0));
  EXPECT_EQ(sum_of({-1.0, -half, -half, -half}).rounded(), -(1.0 + 4 * half));
  EXPECT_EQ(sum_of({2.0, -half}).rounded(), 2.0);
  EXPECT_TRUE(std::isinf(sum_of({1.7e308, 1.7e308}).rounded()));
}

TEST(ExactSum, IsTheSameInAnyOrderAndGrouping) {
  for (const int exponent_max : {20, 900}) {
    auto values = random_values(3000, exponent_max);
    const std::string expected = sum_of(values).to_text();
    const double rounded = sum_of(values).rounded();
    std::mt19937_64 random(11);
    for (int round = 0; round < 20; ++round) {
      std::ranges::shuffle(values, random);
      ExactSum whole;
      for (std::size_t at = 0; at < values.size();) {
        const std::size_t size = std::min<std::size_t>(1 + random() % 400, values.size() - at);
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(at);
        whole.add(sum_of({begin, begin + static_cast<std::ptrdiff_t>(size)}));
        at += size;
      }
      EXPECT_EQ(whole.to_text(), expected);
      EXPECT_EQ(whole.rounded(), rounded);
    }
  }
}

TEST(ExactSum, ReadsBackWhatItWrites) {
  for (const double value : random_values(500, 1000)) {
    const std::string text = sum_of({value, 1.0}).to_text();
    const auto read = ExactSum::parse(text);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(read->to_text(), text);
  }
  ASSERT_TRUE(ExactSum::parse("0x0p0").has_value());
  EXPECT_EQ(ExactSum::parse("-0x1bp-4")->rounded(), -27.0 / 16);
}

TEST(ExactSum, RefusesOtherTexts) {
  for (const char* text :
       {"", "0x", "0x0", "0x1", "0x2p0", "0x01p0", "0x1p", "1p0", "0x1p-1075", "0x1p2000", "0x1p0 ",
        "-0x0p0", "0x0p1", "0x1Bp0", "nan", "0x1p99999999999", "--0x1p0", "0x1p+1"})
    EXPECT_FALSE(ExactSum::parse(text).has_value()) << text;
  EXPECT_FALSE(ExactSum::parse("0x" + std::string(10000, '1') + "p0").has_value());
}

TEST(ExactSum, KeepsThatANumberWasNotFinite) {
  ExactSum sum = sum_of({1.0, std::numeric_limits<double>::infinity()});
  EXPECT_TRUE(std::isnan(sum.rounded()));
  EXPECT_EQ(sum.to_text(), "");
  ExactSum whole;
  whole.add(sum);
  EXPECT_TRUE(std::isnan(whole.rounded()));
}

}  // namespace
}  // namespace xtts
