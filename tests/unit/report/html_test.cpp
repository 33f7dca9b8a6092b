// Whether pages are well-formed and look right is asked of a parser and a browser in tests/html.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/html_chart.hpp"
#include "report/html_page.hpp"
#include "report/html_style.hpp"
#include "report/html_text.hpp"

namespace xtts::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(EscapeHtml, KeepsMarkupAndControlsFromThePage) {
  EXPECT_EQ(escape_html("<b a=\"1\" c='2'>&amp;"),
            "&lt;b a=&#34;1&#34; c=&#39;2&#39;&gt;&amp;amp;");
  EXPECT_EQ(escape_html("a\x1b[31m"), "a\\x1b[31m");
  EXPECT_EQ(escape_html("\xe2\x80\xae"), "\\u202e");
  EXPECT_EQ(escape_html("\xff"), "\\xff");
  EXPECT_EQ(escape_html("\xef\xbf\xbf"), "\\uffff");
  EXPECT_EQ(escape_html("日本 é"), "日本 é");
}

TEST(FormatAny, HasAWordForEachNumber) {
  EXPECT_EQ(format_any(0.0), "0");
  EXPECT_EQ(format_any(12.34), "12.3");
  EXPECT_EQ(format_any(1e300), "1.0e+300");
  EXPECT_EQ(format_any(-2e-9), "-2.0e-09");
  EXPECT_EQ(format_any(kNan), "-");
  EXPECT_EQ(format_any(-std::numeric_limits<double>::infinity()), "-");
}

TEST(HtmlStyle, MayStandInXml) {
  EXPECT_THAT(std::string(html_style()), Not(HasSubstr("<")));
  EXPECT_THAT(std::string(html_style()), Not(HasSubstr("&")));
}

std::vector<Chart> charts_of(const std::vector<double>& values) {
  BarsChart bars{.unit = "ms"};
  StackChart stack{.unit = "ms"};
  for (const double value : values) {
    bars.bars.push_back({"bar", value, value - 1.0, value + 1.0});
    stack.parts.push_back({"part", value});
  }
  return {{"t", "", SeriesChart{.x_name = "batches", .unit = "ms", .values = values}},
          {"t", "", HistogramChart{.unit = "ms", .values = values}},
          {"t", "", bars},
          {"t", "", stack}};
}

TEST(HtmlChart, SaysThatThereIsNothingToDraw) {
  for (const auto& values : {std::vector<double>{}, std::vector<double>{kNan, kNan}}) {
    for (const Chart& chart : charts_of(values)) {
      EXPECT_THAT(html_chart(chart, "a"), HasSubstr("There is nothing to draw."));
      EXPECT_THAT(html_chart(chart, "a"), Not(HasSubstr("<svg")));
    }
  }
}

TEST(HtmlChart, DrawsOneValueAndValuesOfAnySize) {
  const double largest = std::numeric_limits<double>::max();
  for (const auto& values :
       {std::vector<double>{3.0}, {3.0, 3.0, 3.0}, {1.0, largest}, {1.0, 1e-320, 5.0}}) {
    for (const Chart& chart : charts_of(values)) {
      const std::string html = html_chart(chart, "a");
      EXPECT_THAT(html, HasSubstr("<svg"));
      EXPECT_THAT(html, HasSubstr("<desc"));
      EXPECT_THAT(html, HasSubstr("The numbers"));
      for (const std::string name : {"nan", "inf", "=\"-\""})
        EXPECT_THAT(html, Not(HasSubstr(name)));
    }
  }
}

TEST(HtmlChart, CountsValuesThatAreNotFinite) {
  for (const Chart& chart : charts_of({1.0, kNan, 2.0}))
    EXPECT_THAT(html_chart(chart, "a"), HasSubstr("1 value is not finite and left out."));
}

TEST(HtmlChart, MarksThePeriodAndTheLevel) {
  SeriesChart series{.x_name = "batches", .unit = "ms"};
  for (int i = 0; i < 100; ++i) series.values.push_back(i % 10 == 3 ? 9.0 : 1.0);
  series.period = ChartPeriod{10.0, 3.0};
  series.levels = {{"limit 5", 5.0}};
  const std::string html = html_chart({"t", "", series}, "a");
  EXPECT_THAT(html, HasSubstr("repeats every 10 batches"));
  EXPECT_THAT(html, HasSubstr("They repeat every 10."));
  EXPECT_THAT(html, HasSubstr("limit 5</text>"));
  series.period = ChartPeriod{kNan, 0.0};
  EXPECT_THAT(html_chart({"t", "", series}, "a"), Not(HasSubstr("repeats every")));
}

TEST(HtmlPage, IsTheSameEachTimeAndEscapesAllTexts) {
  const std::string text = "<script>alert(1)</script>";
  const HtmlStatus status{HtmlTone::kBad, text};
  const HtmlPage page{
      .title = text,
      .aside = text,
      .status = status,
      .verdict = text,
      .counts = {status},
      .charts = {{text, text, BarsChart{text, {{text, 1.0, {}, {}}}, {{text, 1.0}}}}},
      .sections = {{.title = text,
                    .status = status,
                    .summary = text,
                    .is_folded = true,
                    .blocks = {HtmlText{text}, HtmlFacts{{{text, text, text}}},
                               HtmlList{true, {{status, text, text, text, text}}},
                               HtmlChanges{{{text, text, text, text}}},
                               Chart{text, text, StackChart{text, {{text, 1.0}}}}}},
                   {.title = text, .status = status, .summary = text, .blocks = {HtmlText{text}}}},
      .footer = text};
  const std::string html = html_page(page);
  EXPECT_EQ(html, html_page(page));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
}

}  // namespace
}  // namespace xtts::report
