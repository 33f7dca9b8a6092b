#include "base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace xtts {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
float float_of(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

std::vector<std::uint16_t> all_halves() {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  return halves;
}

// Every float16 that is a number, every midpoint between two neighbours (where ties are decided),
// and the floats right below and above each: all places where a rounding can go wrong.
std::vector<float> floats_around_every_half() {
  std::vector<float> floats;
  for (std::uint32_t half = 0; half < 0x7C00; ++half) {
    const float value = from_float16(static_cast<std::uint16_t>(half));
    const float next =
        half == 0x7BFF ? 65536.0F : from_float16(static_cast<std::uint16_t>(half + 1));
    const float middle = (value + next) / 2.0F;
    for (const float at : {value, middle}) {
      for (const float near : {at, std::nextafter(at, -1.0F), std::nextafter(at, kInfinity)}) {
        floats.push_back(near);
        floats.push_back(-near);
      }
    }
  }
  return floats;
}

// The nearest of all float16 values by distance in double, ties to the even significand: the
// definition, not an algorithm.
std::uint16_t nearest_by_search(float value) {
  const double magnitude = std::fabs(static_cast<double>(value));
  std::uint32_t low = 0;
  std::uint32_t high = 0x7C00;  // infinity stands for 65,536, the next value there would be
  const auto value_of = [](std::uint32_t half) {
    return half == 0x7C00 ? 65536.0
                          : static_cast<double>(from_float16(static_cast<std::uint16_t>(half)));
  };
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (value_of(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - value_of(low);
  const double above = value_of(high) - magnitude;
  const bool up = above < below || (above == below && low % 2 == 1);
  return static_cast<std::uint16_t>((std::signbit(value) ? 0x8000U : 0U) | (up ? high : low));
}

TEST(Float16, KnownValues) {
  EXPECT_EQ(to_float16(0.0F), 0x0000);
  EXPECT_EQ(to_float16(-0.0F), 0x8000);
  EXPECT_EQ(to_float16(1.0F), 0x3C00);
  EXPECT_EQ(to_float16(-2.0F), 0xC000);
  EXPECT_EQ(to_float16(65504.0F), 0x7BFF);
  EXPECT_EQ(to_float16(0x1p-14F), 0x0400);
  EXPECT_EQ(to_float16(0x1p-24F), 0x0001);
  EXPECT_EQ(to_float16(0x1p-25F), 0x0000);  // a tie, to even
  EXPECT_EQ(from_float16(0x3555), 0.333251953125F);
}

TEST(Float16, OverflowBecomesInfinite) {
  EXPECT_EQ(to_float16(std::nextafter(65520.0F, 0.0F)), 0x7BFF);
  EXPECT_EQ(to_float16(65520.0F), 0x7C00);
  EXPECT_EQ(to_float16(-1e30F), 0xFC00);
  EXPECT_EQ(to_float16(kInfinity), 0x7C00);
}

TEST(Float16, ANaNStaysANaNWithItsSignAndBecomesQuiet) {
  EXPECT_EQ(to_float16(float_of(0x7F800001)), 0x7E00);
  EXPECT_EQ(to_float16(float_of(0xFFFFE000)), 0xFFFF);
  EXPECT_EQ(bits_of(from_float16(0x7C01)), 0x7FC02000U);
  EXPECT_EQ(bits_of(from_float16(0xFE00)), 0xFFC00000U);
}

TEST(Float16, EveryHalfComesBackFromFloat) {
  for (const std::uint16_t half : all_halves()) {
    const bool is_nan = (half & 0x7FFFU) > 0x7C00U;
    EXPECT_EQ(to_float16(from_float16(half)), is_nan ? half | 0x200U : half) << half;
  }
}

TEST(Float16, RoundsToTheNearestTiesToEvenAroundEveryHalf) {
  for (const float value : floats_around_every_half()) {
    ASSERT_EQ(to_float16(value), nearest_by_search(value)) << std::hexfloat << value;
  }
}

TEST(Float16, TheVectorFormWidensEveryHalfAsTheReferenceDoes) {
  if (!has_f16c()) GTEST_SKIP() << "this processor has no F16C";
  const std::vector<std::uint16_t> halves = all_halves();
  std::vector<float> widened(halves.size());
  from_float16(halves, widened, HalfPath::kBest);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    ASSERT_EQ(bits_of(widened[i]), bits_of(from_float16(halves[i]))) << halves[i];
  }
}

TEST(Float16, TheVectorFormNarrowsAsTheReferenceDoes) {
  if (!has_f16c()) GTEST_SKIP() << "this processor has no F16C";
  std::vector<float> floats = floats_around_every_half();
  std::mt19937 random(20240611);  // random bit patterns: all exponents, NaNs with payloads
  for (int i = 0; i < 4'000'003; ++i)
    floats.push_back(float_of(static_cast<std::uint32_t>(random())));
  std::vector<std::uint16_t> narrowed(floats.size());
  to_float16(floats, narrowed, HalfPath::kBest);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    ASSERT_EQ(narrowed[i], to_float16(floats[i])) << std::hex << bits_of(floats[i]);
  }
}

TEST(Float16, SpansOfAnyLengthAreConvertedToTheirEnd) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::vector<float> floats(size, 0.1F);
    std::vector<std::uint16_t> halves(size);
    std::vector<float> back(size);
    to_float16(floats, halves);
    from_float16(halves, back);
    EXPECT_EQ(halves, std::vector<std::uint16_t>(size, 0x2E66));
    EXPECT_EQ(back, std::vector<float>(size, 0.0999755859375F));
  }
}

TEST(BFloat16, KnownValues) {
  EXPECT_EQ(to_bfloat16(1.0F), 0x3F80);
  EXPECT_EQ(to_bfloat16(-0.0F), 0x8000);
  EXPECT_EQ(to_bfloat16(float_of(0x3F808000)), 0x3F80);  // a tie, to even
  EXPECT_EQ(to_bfloat16(float_of(0x3F818000)), 0x3F82);  // a tie, to even
  EXPECT_EQ(to_bfloat16(float_of(0x3F808001)), 0x3F81);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(to_bfloat16(float_of(0xFF800001)), 0xFFC0);
  EXPECT_EQ(bits_of(from_bfloat16(0x7F81)), 0x7FC10000U);
}

TEST(BFloat16, EveryValueComesBackThroughSpans) {
  const std::vector<std::uint16_t> halves = all_halves();
  std::vector<float> floats(halves.size());
  std::vector<std::uint16_t> back(halves.size());
  from_bfloat16(halves, floats);
  to_bfloat16(floats, back);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const bool is_nan = (halves[i] & 0x7FFFU) > 0x7F80U;
    ASSERT_EQ(back[i], is_nan ? halves[i] | 0x40U : halves[i]) << halves[i];
  }
}

TEST(BFloat16, RoundsToTheNearerNeighbour) {
  std::mt19937 random(20240612);
  for (int i = 0; i < 1'000'000; ++i) {
    const float value = float_of(static_cast<std::uint32_t>(random()));
    const float down = float_of(bits_of(value) & 0xFFFF0000U);
    const float up = float_of((bits_of(value) & 0xFFFF0000U) + 0x10000U);
    if (!std::isfinite(value) || !std::isfinite(up)) continue;
    const double to_down = std::fabs(static_cast<double>(value) - static_cast<double>(down));
    const double to_up = std::fabs(static_cast<double>(value) - static_cast<double>(up));
    const float got = from_bfloat16(to_bfloat16(value));
    if (to_down != to_up) {
      ASSERT_EQ(bits_of(got), bits_of(to_down < to_up ? down : up)) << bits_of(value);
    }
  }
}

}  // namespace
}  // namespace xtts
