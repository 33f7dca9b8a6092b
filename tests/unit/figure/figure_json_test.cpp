#include "figure/figure_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace xtts::figure {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Figure whole_figure() {
  Panel panel;
  panel.title = "steps";
  panel.x = {.name = "step", .low = 0.5, .high = 2.5, .counts_things = true, .ticks = {}};
  panel.y = {.name = "Hz", .low = -1.0, .high = 80.0, .ticks = {{30.25, "1,000"}, {0.0, "0"}}};
  panel.heat_map = HeatMap{.column_count = 2,
                           .row_count = 1,
                           .levels = {255, kNoValue},
                           .value_name = "ln",
                           .low = -11.5,
                           .high = 1.0};
  panel.columns = {{"data", Colour::kVermilion, {1.0, 2.5}}};
  panel.outlines = {{"all", Colour::kTeal, {0.0}}};
  panel.levels = {{"mean", Colour::kInk, 1.75}};
  return {.title = "Größe", .aside = "2 s", .subtitle = "سلام", .panels = {panel, panel}};
}

std::string fault_of(const json& figure) {
  const auto read = from_json(figure.dump());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument);
  return read.status().message();
}

TEST(FigureJson, GivesBackEveryValue) {
  const auto read = from_json(to_json(whole_figure()));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, whole_figure());
}

TEST(FigureJson, TextsAndListsMayBeMissing) {
  const auto read = from_json(
      R"({"panels":[{"width":100,"height":50,"x":{"low":0,"high":1},"y":{"low":0,"high":1}}]})");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->panels.size(), 1U);
}

TEST(FigureJson, TextThatIsNotUtf8IsShownAllTheSame) {
  Figure figure = whole_figure();
  figure.title = "a\xff";
  EXPECT_EQ(from_json(to_json(figure))->title, "a\xEF\xBF\xBD");
}

TEST(FigureJson, EveryFaultIsNamed) {
  const json sound = json::parse(to_json(whole_figure()));
  const auto with = [&](const char* path, const json& value) {
    json changed = sound;
    changed[json::json_pointer(path)] = value;
    return fault_of(changed);
  };
  EXPECT_THAT(with("/titel", "x"), HasSubstr("figure has an unknown key"));
  EXPECT_THAT(with("/title", 3), HasSubstr("figure.title is not a text"));
  EXPECT_THAT(with("/panels", json::array()), HasSubstr("has no panel"));
  EXPECT_THAT(with("/panels", "x"), HasSubstr("figure.panels is not a list"));
  EXPECT_THAT(with("/panels/0", 1), HasSubstr("panel is not an object"));
  EXPECT_THAT(with("/panels/0/x", nullptr), HasSubstr("x is not an object"));
  EXPECT_THAT(with("/panels/0/x/high", 0.5), HasSubstr("x does not go from low to high"));
  EXPECT_THAT(with("/panels/0/x/high", "1"), HasSubstr("x.high is not a finite number"));
  EXPECT_THAT(with("/panels/0/x/counts_things", 1), HasSubstr("of another type"));
  EXPECT_THAT(with("/panels/0/width", 1e9), HasSubstr("from 20 to 16000"));
  EXPECT_THAT(with("/panels/0/columns/0/colour", "pink"), HasSubstr("unknown: 'pink'"));
  EXPECT_THAT(with("/panels/0/columns/0/values/0", nullptr), HasSubstr("values is not a finite"));
  EXPECT_THAT(with("/panels/0/heat_map/levels/0", 256), HasSubstr("from -1 to 255"));
  EXPECT_THAT(with("/panels/0/heat_map/row_count", 3), HasSubstr("do not fill"));
  EXPECT_THAT(with("/panels/0/heat_map/row_count", 0), HasSubstr("not between 1 and 32000"));
  EXPECT_THAT(with("/panels/0/columns/0/values/0", -1.0), HasSubstr("a value below 0"));
  EXPECT_THAT(with("/panels/0/columns/1", {{"colour", "blue"}, {"values", {1.0}}}),
              HasSubstr("differ in their number of values"));
  json lacking = sound;
  lacking["panels"][0].erase("y");
  EXPECT_THAT(fault_of(lacking), HasSubstr("y is missing"));
  EXPECT_EQ(from_json("{").status().message(), "the figure is not JSON");
}

}  // namespace
}  // namespace xtts::figure
