#include "report/human.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace xtts::report {
namespace {

TEST(Human, ListsAreSeparatedByCommas) {
  EXPECT_EQ(format_list({}), "");
  EXPECT_EQ(format_list({"a"}), "a");
  EXPECT_EQ(format_list({"a", "b c", ""}), "a, b c, ");
}

TEST(Human, PeriodsHaveADigitWhereTheyAreNotWhole) {
  EXPECT_EQ(format_period(10.0), "10");
  EXPECT_EQ(format_period(10.04), "10");
  EXPECT_EQ(format_period(7.5), "7.5");
}

TEST(Human, GroupsDigitsByThree) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(Human, SizesKeepThreeDigitsAndChangeUnitBefore1024) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1024), "1.0 KiB");
  EXPECT_EQ(format_size(13207024435), "12.3 GiB");
  EXPECT_EQ(format_size(256 * 1024), "256 KiB");
  EXPECT_EQ(format_size((std::uint64_t{1} << 30U) - 1), "1.0 GiB");
  EXPECT_EQ(format_size(std::numeric_limits<std::uint64_t>::max()), "16.0 EiB");
}

TEST(Human, DurationsUseTheTwoLargestUnits) {
  EXPECT_EQ(format_estimate(0.03), "under 1 s");
  EXPECT_EQ(format_estimate(4.21), "4.2 s");
  EXPECT_EQ(format_duration(0.0), "0.0 ms");
  EXPECT_EQ(format_duration(0.0042), "4.2 ms");
  EXPECT_EQ(format_duration(4.21), "4.2 s");
  EXPECT_EQ(format_duration(59.96), "1 min");
  EXPECT_EQ(format_duration(61), "1 min 1 s");
  EXPECT_EQ(format_duration(11520), "3 h 12 min");
  EXPECT_EQ(format_duration(3599.9), "1 h");
  EXPECT_EQ(format_duration(86399), "1 d");
  EXPECT_EQ(format_duration(97200), "1 d 3 h");
  EXPECT_EQ(format_duration(-1), "-");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "-");
}

TEST(Human, ShortNumbersKeepThreeDigits) {
  EXPECT_EQ(format_short(0.0), "0");
  EXPECT_EQ(format_short(0.01234), "0.0123");
  EXPECT_EQ(format_short(1.234), "1.23");
  EXPECT_EQ(format_short(12.34), "12.3");
  EXPECT_EQ(format_short(99.97), "100");
  EXPECT_EQ(format_short(1234.5), "1,235");
  EXPECT_EQ(format_short(-0.5), "-0.5");
}

TEST(Human, NegativeZeroIsZero) {
  EXPECT_EQ(format_fixed(-0.001, 2), "0.00");
}

TEST(Human, PercentagesShowSmallSharesToo) {
  EXPECT_EQ(format_percent(0.0), "0 %");
  EXPECT_EQ(format_percent(0.0042), "0.42 %");
  EXPECT_EQ(format_percent(0.05), "5.0 %");
  EXPECT_EQ(format_percent(1.0), "100 %");
}

TEST(Human, NounsFollowTheirCount) {
  EXPECT_EQ(format_counted(1, "clip", "clips"), "1 clip");
  EXPECT_EQ(format_counted(0, "clip", "clips"), "0 clips");
  EXPECT_EQ(format_counted(1234, "clip", "clips"), "1,234 clips");
}

TEST(Human, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("سلام"), 4U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("\xff"), 1U);
}

TEST(Human, ShorteningNeverSplitsACharacter) {
  EXPECT_EQ(shorten("hello", 5), "hello");
  EXPECT_EQ(shorten("hello!", 5), "hell…");
  EXPECT_EQ(shorten("日本語", 4), "日…");
  EXPECT_EQ(shorten("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  EXPECT_EQ(shorten("hello", 0), "");
}

TEST(Human, ControlCharactersBecomeVisible) {
  EXPECT_EQ(escape_controls("a\nb\tc"), "a\\nb\\tc");
  EXPECT_EQ(escape_controls("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(escape_controls("a\u202eb"), "a\\u202eb");
  EXPECT_EQ(escape_controls("\u009b"), "\\x9b");
  EXPECT_EQ(escape_controls("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(escape_controls("سلام é 日本"), "سلام é 日本");
  EXPECT_EQ(escape_controls_in_lines("a\x1b:\n  b\r\n"), "a\\x1b:\n  b\\r\n");
}

}  // namespace
}  // namespace xtts::report
