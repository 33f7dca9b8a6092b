#include "draw/ticks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace xtts::draw {
namespace {

using figure::Axis;
using figure::Tick;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Axis axis(double low, double high, bool counts_things = false) {
  return {.name = {}, .low = low, .high = high, .counts_things = counts_things, .ticks = {}};
}

std::vector<std::string> labels(const Axis& axis, int count_max) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks_of(axis, count_max)) out.push_back(tick.label);
  return out;
}

TEST(Ticks, AreRoundNumbersWithTheDigitsTheyNeed) {
  EXPECT_THAT(labels(axis(0.0, 0.3), 5), ElementsAre("0.0", "0.1", "0.2", "0.3"));
  EXPECT_THAT(labels(axis(0.0, 30.0), 8), ElementsAre("0", "5", "10", "15", "20", "25", "30"));
  EXPECT_THAT(labels(axis(-11.5, 0.3), 7), ElementsAre("-10", "-8", "-6", "-4", "-2", "0"));
  EXPECT_THAT(labels(axis(0.0, 0.05), 6),
              ElementsAre("0.00", "0.01", "0.02", "0.03", "0.04", "0.05"));
}

TEST(Ticks, SeparateThousands) {
  EXPECT_THAT(labels(axis(0.0, 2500.0), 6),
              ElementsAre("0", "500", "1,000", "1,500", "2,000", "2,500"));
  EXPECT_EQ(format_number(2010.0, 0), "2,010");
  EXPECT_EQ(format_number(-1234567.5, 1), "-1,234,567.5");
  EXPECT_EQ(format_number(-123.0, 0), "-123");
  EXPECT_EQ(format_number(999.999, 0), "1,000");
}

TEST(Ticks, NeverExceedTheirCountAndStayInside) {
  for (double span = 1e-4; span < 1e7; span *= 1.37) {
    for (int count_max = 1; count_max < 12; ++count_max) {
      const auto ticks = ticks_of(axis(-span / 3.0, span), count_max);
      EXPECT_LE(ticks.size(), static_cast<std::size_t>(count_max));
      for (const Tick& tick : ticks) {
        EXPECT_GE(tick.at, -span / 3.0 - 1e-9 * span);
        EXPECT_LE(tick.at, span * (1.0 + 1e-9));
        EXPECT_EQ(tick.label.find('e'), std::string::npos) << tick.label;
      }
    }
  }
}

TEST(Ticks, AnEmptyOrEndlessRangeHasNone) {
  EXPECT_THAT(ticks_of(axis(1.0, 1.0), 5), IsEmpty());
  EXPECT_THAT(ticks_of(axis(2.0, 1.0), 5), IsEmpty());
  EXPECT_THAT(ticks_of(axis(0.0, std::numeric_limits<double>::infinity()), 5), IsEmpty());
  EXPECT_THAT(ticks_of(axis(0.0, std::nan("")), 5), IsEmpty());
}

TEST(Ticks, OfThingsBeginAtOneAndHaveNoFractions) {
  EXPECT_THAT(labels(axis(0.5, 1.5, true), 10), ElementsAre("1"));
  EXPECT_THAT(labels(axis(0.5, 4.5, true), 10), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(labels(axis(0.5, 14.5, true), 10),
              ElementsAre("1", "2", "4", "6", "8", "10", "12", "14"));
  EXPECT_THAT(labels(axis(0.5, 99.5, true), 5), ElementsAre("1", "20", "40", "60", "80"));
  EXPECT_THAT(labels(axis(0.0, 3.0, true), 8), ElementsAre("0", "1", "2", "3"));
}

TEST(Ticks, OfTheAxisItselfStayInTheirOrder) {
  Axis own = axis(0.0, 80.0);
  own.ticks = {{30.0, "1,000"}, {0.0, "0"}, {81.0, "12,000"}};
  EXPECT_THAT(labels(own, 2), ElementsAre("1,000", "0"));
}

}  // namespace
}  // namespace xtts::draw
