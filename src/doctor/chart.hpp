// The charts that a check may carry. Plain values: src/report draws them, and reports show them.
#pragma once

#include "report/chart.hpp"

namespace xtts::doctor {

using report::BarsChart;
using report::Chart;
using report::ChartBar;
using report::ChartLevel;
using report::ChartPart;
using report::ChartPeriod;
using report::HistogramChart;
using report::SeriesChart;
using report::StackChart;

}  // namespace xtts::doctor
