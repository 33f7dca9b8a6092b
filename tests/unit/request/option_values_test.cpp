#include "request/option_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::request {
namespace {

TEST(OptionValues, TakeSizesWithBinaryUnits) {
  EXPECT_EQ(*parse_size("memory", "1073741824"), 1073741824U);
  EXPECT_EQ(*parse_size("memory", "512M"), 512U << 20U);
  EXPECT_EQ(*parse_size("memory", "1.5GiB"), 1536U << 20U);
  EXPECT_EQ(*parse_size("memory", "2KB"), 2048U);
  for (const char* wrong : {"", "M", "-1G", "0", "12X", "1 G", "1GG", "1e300"}) {
    const auto size = parse_size("memory", wrong);
    EXPECT_EQ(size.status().code(), StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(size.status().message(),
                ::testing::StartsWith("memory '" + std::string(wrong) + "': "));
  }
}

TEST(OptionValues, TakeRejectLimitsAsNumbersAndShares) {
  EXPECT_DOUBLE_EQ(*parse_percent("max_gone", "2.5%"), 0.025);
  for (const char* const wrong : {"5", "", "%", "-1%", "101%", "nan%", "5 %"})
    EXPECT_FALSE(parse_percent("max_gone", wrong).ok()) << wrong;
  EXPECT_EQ(parse_reject_limit("max_rejects", "20")->count, 20U);
  EXPECT_EQ(parse_reject_limit("max_rejects", "0")->count, 0U);
  EXPECT_FALSE(parse_reject_limit("max_rejects", "2.5%")->count.has_value());
  EXPECT_DOUBLE_EQ(parse_reject_limit("max_rejects", "2.5%")->share, 0.025);
  for (const char* wrong : {"", "%", "-1", "101%", "5 %", "0.05"})
    EXPECT_FALSE(parse_reject_limit("max_rejects", wrong).ok()) << wrong;
}

TEST(OptionValues, TakePartsThatExist) {
  EXPECT_EQ(parse_partition("partition", "2/8")->index, 2U);
  EXPECT_EQ(parse_partition("partition", "2/8")->count, 8U);
  for (const char* wrong : {"", "2", "0/8", "9/8", "2/", "/8", "2/8x", "1/100001"})
    EXPECT_FALSE(parse_partition("partition", wrong).ok()) << wrong;
}

TEST(OptionValues, TakeSharesAndSeeds) {
  EXPECT_DOUBLE_EQ(*parse_share("sample", "1%"), 0.01);
  EXPECT_DOUBLE_EQ(*parse_share("sample", "0.25"), 0.25);
  EXPECT_DOUBLE_EQ(*parse_share("sample", "1"), 1.0);
  for (const char* wrong : {"", "0", "0%", "1.5", "200%", "nan"})
    EXPECT_FALSE(parse_share("sample", wrong).ok()) << wrong;
  EXPECT_EQ(*parse_seed("seed", "18446744073709551615"), 18446744073709551615U);
  EXPECT_FALSE(parse_seed("seed", "-1").ok());
}

}  // namespace
}  // namespace xtts::request
