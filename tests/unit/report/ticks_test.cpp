#include "report/ticks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace xtts::report {
namespace {

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks) out.push_back(tick.label);
  return out;
}

using Labels = std::vector<std::string>;

TEST(LinearTicks, AreRoundNumbersWithTheDigitsTheyNeed) {
  EXPECT_EQ(labels(linear_ticks(0.0, 0.3, 5)), (Labels{"0.0", "0.1", "0.2", "0.3"}));
  EXPECT_EQ(labels(linear_ticks(0.0, 30.0, 8)), (Labels{"0", "5", "10", "15", "20", "25", "30"}));
  EXPECT_EQ(labels(linear_ticks(-11.5, 0.3, 7)), (Labels{"-10", "-8", "-6", "-4", "-2", "0"}));
  EXPECT_EQ(labels(linear_ticks(0.0, 0.05, 6)),
            (Labels{"0.00", "0.01", "0.02", "0.03", "0.04", "0.05"}));
}

TEST(LinearTicks, NeverExceedTheirCountAndStayInside) {
  for (double span = 1e-4; span < 1e5; span *= 1.37) {
    for (int count_max = 1; count_max < 12; ++count_max) {
      const auto ticks = linear_ticks(-span / 3.0, span, count_max);
      EXPECT_LE(ticks.size(), static_cast<std::size_t>(count_max));
      for (const Tick& tick : ticks) {
        EXPECT_GE(tick.value, -span / 3.0 - 1e-9 * span);
        EXPECT_LE(tick.value, span * (1.0 + 1e-9));
      }
    }
  }
}

TEST(LinearTicks, AnEmptyOrEndlessRangeHasNone) {
  EXPECT_TRUE(linear_ticks(1.0, 1.0, 5).empty());
  EXPECT_TRUE(linear_ticks(2.0, 1.0, 5).empty());
  EXPECT_TRUE(linear_ticks(0.0, std::numeric_limits<double>::infinity(), 5).empty());
  EXPECT_TRUE(linear_ticks(0.0, std::nan(""), 5).empty());
}

TEST(CountTicks, BeginAtOneAndHaveNoFractions) {
  EXPECT_EQ(labels(count_ticks(1, 10)), (Labels{"1"}));
  EXPECT_EQ(labels(count_ticks(4, 10)), (Labels{"1", "2", "3", "4"}));
  EXPECT_EQ(labels(count_ticks(14, 10)), (Labels{"1", "2", "4", "6", "8", "10", "12", "14"}));
  EXPECT_EQ(labels(count_ticks(99, 5)), (Labels{"1", "20", "40", "60", "80"}));
  EXPECT_TRUE(count_ticks(0, 10).empty());
  for (std::size_t count = 1; count < 3000; count += 7)
    EXPECT_LE(count_ticks(count, 10).size(), 11U) << count;
}

TEST(FrequencyTicks, KeepTheirDistance) {
  const auto place = [](double hz) { return 100.0 * std::log2(1.0 + hz / 700.0); };
  const auto ticks = frequency_ticks(0.0, 11025.0, 30.0, place);
  ASSERT_GT(ticks.size(), 5U);
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    EXPECT_GE(place(ticks[i].value) - place(ticks[i - 1].value), 30.0);
  }
}

TEST(FrequencyTicks, WriteThousandsShort) {
  const auto ticks = frequency_ticks(400.0, 2100.0, 1.0, [](double hz) { return hz / 100.0; });
  EXPECT_EQ(labels(ticks), (Labels{"500", "700", "1k", "1.5k", "2k"}));
}

}  // namespace
}  // namespace xtts::report
