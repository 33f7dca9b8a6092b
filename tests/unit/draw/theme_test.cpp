// An SVG has to be readable on a dark page. What is checked is that each colour which Cairo wrote
// for ink, paper and grid is one that the style sheet names.
#include "draw/theme.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "draw/page.hpp"

namespace xtts::draw {
namespace {

using ::testing::HasSubstr;

figure::Figure small_figure() {
  figure::Panel panel;
  panel.x.name = "batch";
  panel.columns = {{"time", figure::Colour::kBlue, {0.2, 0.7}}};
  panel.levels = {{"mean 0.4", figure::Colour::kInk, 0.4}};
  return {.title = "a < b & c", .aside = {}, .subtitle = "گفتار", .panels = {panel}};
}

std::set<std::string> colours_in(const std::string& svg) {
  static const std::regex colour("(?:fill|stroke)(?::|=\")(rgb\\([^)]*\\))");
  std::set<std::string> found;
  for (std::sregex_iterator at(svg.begin(), svg.end(), colour), end; at != end; ++at)
    found.insert((*at)[1]);
  return found;
}

TEST(Theme, EveryRolesColourHasADarkOne) {
  const auto page = draw_svg(small_figure());
  ASSERT_TRUE(page.ok()) << page.status().message();
  const std::size_t end_of_style = page->bytes.find("</style>");
  ASSERT_NE(end_of_style, std::string::npos);
  const std::string style = page->bytes.substr(0, end_of_style);
  const std::set<std::string> drawn = colours_in(page->bytes.substr(end_of_style));
  EXPECT_GE(drawn.size(), 5U);  // paper, ink, soft ink, grid, and the columns' blue
  std::size_t without = 0;
  for (const std::string& colour : drawn)
    if (style.find('"' + colour + '"') == std::string::npos) ++without;
  EXPECT_EQ(without, 1U) << "only the blue is the same on dark paper";
}

TEST(Theme, SaysWhatThePictureIsInWords) {
  const auto page = draw_svg(small_figure());
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(page->bytes, HasSubstr("<title>a &lt; b &amp; c</title>"));
  EXPECT_THAT(page->bytes, HasSubstr("<desc>گفتار</desc>"));
}

TEST(Theme, LeavesOtherTextAlone) {
  EXPECT_EQ(with_dark_colours("not an SVG", "a", "b"), "not an SVG");
}

}  // namespace
}  // namespace xtts::draw
