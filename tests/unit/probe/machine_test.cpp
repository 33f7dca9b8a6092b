#include "probe/machine.hpp"

#include <gtest/gtest.h>

namespace xtts::probe {
namespace {

TEST(ParseCpuLimit, ReadsAQuotaAndNoLimit) {
  EXPECT_EQ(parse_cpu_limit("150000 100000\n"), 1.5);
  EXPECT_EQ(parse_cpu_limit("max 100000\n"), std::nullopt);
  EXPECT_EQ(parse_cpu_limit(""), std::nullopt);
  EXPECT_EQ(parse_cpu_limit("0 0"), std::nullopt);
}

}  // namespace
}  // namespace xtts::probe
