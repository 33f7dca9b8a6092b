// A Chart says what a small chart of an HTML page shows. Plain values; html_chart draws them.
//
// Values may be of any size. Those that are not finite are left out, and the chart says how many.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace xtts::report {

// A line across the chart, with its name: "limit 100".
struct ChartLevel {
  std::string name;
  double at = 0.0;
};

// The values are alike after each `length` of them, which need not be whole.
struct ChartPeriod {
  double length = 0.0;
  double first = 0.0;  // the index at which a period begins
};

// One value after the other: times of batches.
struct SeriesChart {
  std::string x_name = {};  // "batches"
  std::string unit = {};    // "ms"
  std::vector<double> values = {};
  std::optional<ChartPeriod> period = {};
  std::vector<ChartLevel> levels = {};
};

// How often which values occur.
struct HistogramChart {
  std::string unit = {};
  std::vector<double> values = {};
  std::vector<ChartLevel> levels = {};
};

struct ChartBar {
  std::string label = {};
  double value = 0.0;
  // The value is known to lie between the two. Unset: no range is known.
  std::optional<double> low = {};
  std::optional<double> high = {};
};

// Horizontal bars: before and after.
struct BarsChart {
  std::string unit = {};
  std::vector<ChartBar> bars = {};
  std::vector<ChartLevel> levels = {};
};

struct ChartPart {
  std::string label = {};
  double value = 0.0;  // below 0: as 0
};

// A whole and its parts: the split of a training step.
struct StackChart {
  std::string unit = {};
  std::vector<ChartPart> parts = {};
};

struct Chart {
  std::string title = {};
  std::string note = {};  // how it is known; empty: nothing is to say
  std::variant<SeriesChart, HistogramChart, BarsChart, StackChart> content = {};
};

}  // namespace xtts::report
