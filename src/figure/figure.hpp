// A Figure says what a picture shows: titles, panels with two axes, and what is drawn in them.
// The program xtts-draw makes a PNG or an SVG of it. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xtts::figure {

// Colours that the colour-blind tell apart (Okabe and Ito, and four more), on light and dark paper.
// kInk is black on light paper and white on dark paper.
enum class Colour {
  kInk,
  kBlue,
  kVermilion,
  kGreen,
  kOrange,
  kSky,
  kPurple,
  kGrey,
  kYellow,
  kViolet,
  kBrown,
  kTeal
};

struct Tick {
  double at = 0.0;
  std::string label;

  friend bool operator==(const Tick&, const Tick&) = default;
};

struct Axis {
  std::string name;  // with its unit: "time (s)"
  double low = 0.0;
  double high = 1.0;
  bool counts_things = false;  // only whole numbers get a label
  // The labels, the most important ones first: those without room are left out. Empty: round
  // numbers are chosen.
  std::vector<Tick> ticks;

  friend bool operator==(const Axis&, const Axis&) = default;
};

inline constexpr std::int16_t kNoValue = -1;

// A heat map that fills its panel, in the colours of magma.
struct HeatMap {
  std::size_t column_count = 0;
  std::size_t row_count = 0;
  // [column_count, row_count], the lowest row first. 0 to 255; kNoValue, which is grey.
  std::vector<std::int16_t> levels;
  // Level 0 stands for `low` and 255 for `high`. A colour bar at the side says so.
  std::string value_name;
  double low = 0.0;
  double high = 1.0;

  friend bool operator==(const HeatMap&, const HeatMap&) = default;
};

// Values at equal distances over the whole horizontal axis.
struct Series {
  std::string name;
  Colour colour = Colour::kBlue;
  std::vector<double> values;

  friend bool operator==(const Series&, const Series&) = default;
};

// A horizontal line with its name at the right.
struct Level {
  std::string name;
  Colour colour = Colour::kInk;
  double at = 0.0;

  friend bool operator==(const Level&, const Level&) = default;
};

struct Panel {
  std::string title;
  double width = 800.0;  // of the plot, in points; a PNG has two pixels a point
  double height = 220.0;
  Axis x;
  Axis y;
  std::optional<HeatMap> heat_map;
  std::vector<Series> columns;   // stacked, the first at the bottom
  std::vector<Series> outlines;  // one stair line each
  std::vector<Level> levels;

  friend bool operator==(const Panel&, const Panel&) = default;
};

struct Figure {
  std::string title;
  std::string aside;     // at the right end of the title's line
  std::string subtitle;  // in any script, up to two lines
  std::vector<Panel> panels;

  friend bool operator==(const Figure&, const Figure&) = default;
};

}  // namespace xtts::figure
