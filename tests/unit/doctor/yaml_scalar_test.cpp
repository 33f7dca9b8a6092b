#include "doctor/yaml_scalar.hpp"

#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

// The right-hand sides are PyYAML's own answers (6.0, yaml.safe_load).
TEST(YamlScalar, ReadsWordsAsPyYamlDoes) {
  for (const char* const text : {"yes", "Yes", "NO", "on", "Off", "true", "FALSE"})
    EXPECT_EQ(kind_of_plain(text), ScalarKind::kBool) << text;
  for (const char* const text : {"", "~", "null", "Null", "NULL"})
    EXPECT_EQ(kind_of_plain(text), ScalarKind::kNull) << text;
  for (const char* const text : {"y", "n", "tRue", "none", "nullx", "oN"})
    EXPECT_EQ(kind_of_plain(text), ScalarKind::kText) << text;
}

TEST(YamlScalar, ReadsNumbersAsPyYamlDoes) {
  for (const char* const text : {"0", "-7", "+7", "256_256", "0x1F", "0b101", "017", "1:30"})
    EXPECT_EQ(kind_of_plain(text), ScalarKind::kInt) << text;
  for (const char* const text : {"1.0", "1.", ".5", "1.0e-4", "1.5E+6", "-1.5", ".inf", ".nan"})
    EXPECT_EQ(kind_of_plain(text), ScalarKind::kFloat) << text;
  for (const char* const text : {"1e-4", "1e5", "1.0e6", "1e+5", "-.5", "08", "1,5", "0x", "12a"})
    EXPECT_EQ(kind_of_plain(text), ScalarKind::kText) << text;
}

TEST(YamlScalar, GivesTheirValues) {
  EXPECT_EQ(number_of_plain("256_256"), 256256.0);
  EXPECT_EQ(number_of_plain("0x10"), 16.0);
  EXPECT_EQ(number_of_plain("017"), 15.0);
  EXPECT_EQ(number_of_plain("-0b11"), -3.0);
  EXPECT_EQ(number_of_plain("1.0e-4"), 1e-4);
  EXPECT_EQ(number_of_plain("1e-4"), std::nullopt);
  EXPECT_EQ(number_of_plain(".inf"), std::nullopt);
  EXPECT_EQ(bool_of_plain("On"), true);
  EXPECT_EQ(bool_of_plain("1"), std::nullopt);
}

TEST(YamlScalar, WritesWhatAPersonMeans) {
  EXPECT_EQ(as_float("1e-4"), "1.0e-4");
  EXPECT_EQ(as_float("1e6"), "1.0e+6");
  EXPECT_EQ(as_float("2.5E6"), "2.5e+6");
  EXPECT_EQ(as_float("-.5"), "-0.5");
  EXPECT_EQ(as_float("08"), "08.0");
  EXPECT_EQ(as_float("32"), "32");
  EXPECT_EQ(as_float("fast"), "");
  EXPECT_EQ(as_int("32.0"), "32");
  EXPECT_EQ(as_int("1e3"), "1000");
  EXPECT_EQ(as_int("08"), "8");
  EXPECT_EQ(as_int("1.5"), "");
  EXPECT_EQ(as_int("many"), "");
  for (const char* const text : {"1e-4", "1e6", "2.5E6", "-.5", "08", "+3e2"})
    EXPECT_TRUE(number_of_plain(as_float(text))) << as_float(text);
  EXPECT_EQ(as_int(std::string(5000, '9')), "");
}

}  // namespace
}  // namespace xtts::doctor
