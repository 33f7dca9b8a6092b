#include "doctor/doctor_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Check> two_checks() {
  Check small{
      .name = "memory", .title = "Memory", .status = CheckStatus::kWarn, .summary = "Little."};
  small.findings = {{.status = CheckStatus::kWarn,
                     .text = "Little.",
                     .remedy = "Buy memory.",
                     .gain = Gain{1.1, 1.3, "guessed"}}};
  Check large{
      .name = "storage", .title = "Storage", .status = CheckStatus::kFail, .summary = "Slow."};
  large.findings = {{.status = CheckStatus::kFail,
                     .text = "Slow.",
                     .remedy = "Build a cache.",
                     .changes = {{"data.preprocessing_mode", "runtime", "precompute", "because"}},
                     .gain = Gain{2.0, 3.0, "measured"},
                     .place = "config.yaml:3"}};
  large.evidence = {{"a batch", "190 ms", "read past the page cache", 190.0, "ms"}};
  return {small, large};
}

std::size_t place_of(const std::string& page, const std::string& text) {
  const std::size_t place = page.find(text);
  EXPECT_NE(place, std::string::npos) << text;
  return place;
}

TEST(DoctorPage, HasTheVerdictThenAdviceByGainThenChangesThenChecks) {
  const std::string page =
      doctor_page({.date = "today", .machine = {"8 processors"}}, two_checks());
  const std::size_t verdict = place_of(page, "<p>Slow.</p>");
  const std::size_t first = place_of(page, "Build a cache.");
  const std::size_t second = place_of(page, "Buy memory.");
  const std::size_t change = place_of(page, "<del>− runtime</del><ins>+ precompute</ins>");
  const std::size_t check = place_of(page, "<details class=\"folded\">");
  EXPECT_LT(verdict, first);
  EXPECT_LT(first, second);
  EXPECT_LT(second, change);
  EXPECT_LT(change, check);
  EXPECT_THAT(page, HasSubstr("2.0 to 3.0 times as fast"));
  EXPECT_THAT(page, HasSubstr("measured"));
  EXPECT_THAT(page, HasSubstr("read past the page cache"));
  EXPECT_THAT(page, HasSubstr("<code>config.yaml:3</code>"));
  EXPECT_THAT(page, HasSubstr("✗ 1 fail"));
  EXPECT_THAT(page, HasSubstr("8 processors"));
}

TEST(DoctorPage, TakesTheVerdictOfTheMainCheckAndShowsItsChartsOnce) {
  std::vector<Check> checks = two_checks();
  checks.push_back({.name = "will_it_help",
                    .title = "Will a cache help?",
                    .status = CheckStatus::kPass,
                    .summary = "No."});
  checks.back().charts = {{"A chart of it", "", StackChart{"ms", {{"a", 1.0}}}}};
  const std::string page = doctor_page({}, checks);
  EXPECT_LT(place_of(page, "<p>No.</p>"), place_of(page, "<figcaption>A chart of it"));
  EXPECT_EQ(page.find("<figcaption>A chart of it"), page.rfind("<figcaption>A chart of it"));
}

TEST(DoctorPage, SaysWhatNothingMeans) {
  EXPECT_THAT(doctor_page({}, {}), HasSubstr("Nothing was checked."));
  const Check good{.name = "a", .title = "A", .status = CheckStatus::kPass, .summary = "Fine."};
  const std::string page = doctor_page({}, {good});
  EXPECT_THAT(page, HasSubstr("Nothing was found that holds training back."));
  EXPECT_THAT(page, Not(HasSubstr("Changes of config.yaml")));
}

TEST(DoctorPage, IsTheSameEachTime) {
  EXPECT_EQ(doctor_page({.title = "t"}, two_checks()), doctor_page({.title = "t"}, two_checks()));
}

}  // namespace
}  // namespace xtts::doctor
