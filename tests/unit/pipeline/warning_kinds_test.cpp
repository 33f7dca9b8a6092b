#include "pipeline/warning_kinds.hpp"
#include "formats/rules.hpp"

#include <gtest/gtest.h>

namespace xtts::pipeline {
namespace {

using formats::Reason;
using formats::Rule;

TEST(WarningKinds, CountsClipsByRuleWithTheFirstAsExample) {
  const Reason short_one{.rule = Rule::kTooShort, .numbers = {0.00998}};
  const Reason shorter{.rule = Rule::kTooShort, .numbers = {0.00005}};
  const Reason low{.rule = Rule::kLowRate, .numbers = {1234}};
  WarningKinds kinds;
  kinds.add("a", std::vector{short_one, low});
  kinds.add("b", std::vector{Reason{.rule = Rule::kSilent}});
  kinds.add("c", std::vector{shorter});
  const auto sorted = kinds.by_count();
  ASSERT_EQ(sorted.size(), 3U);
  EXPECT_EQ(sorted[0].count, 2U);
  EXPECT_EQ(sorted[0].example, short_one);
  EXPECT_EQ(sorted[0].example_id, "a");
  EXPECT_EQ(sorted[1].count, 1U);
}

}  // namespace
}  // namespace xtts::pipeline
