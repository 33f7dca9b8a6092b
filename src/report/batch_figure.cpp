#include "report/batch_figure.hpp"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "report/batch_times.hpp"
#include "report/human.hpp"

namespace xtts::report {
namespace {

using nlohmann::json;

constexpr double kWidth = 800.0;
constexpr double kHeight = 260.0;

// The axis ends a little above the slowest batch. If a few batches are far off, the axis is
// shorter and their columns reach its end.
double top_of_axis(const BatchTimes& times, std::span<const double> ms) {
  if (ms.empty()) return 1.0;
  const double slowest = *std::ranges::max_element(ms);
  const double top = std::min(slowest, 4.0 * std::max(times.p95_ms, times.mean_ms));
  return std::max(top * 1.1, 1e-6);
}

std::vector<double> slowest_of_each_column(std::span<const double> ms) {
  const std::size_t column_count = std::min(ms.size(), static_cast<std::size_t>(kWidth));
  std::vector<double> columns;
  for (std::size_t i = 0; i < column_count; ++i) {
    const std::size_t first = i * ms.size() / column_count;
    const std::size_t end = (i + 1) * ms.size() / column_count;
    columns.push_back(std::ranges::max(ms.subspan(first, end - first)));
  }
  return columns;
}

std::string facts_of(const BatchTimes& times, std::span<const double> ms, double top) {
  const std::string facts =
      formatted("{}, {} ms each", format_counted(times.count, "batch", "batches"),
                format_short(times.mean_ms));
  const double slowest = ms.empty() ? 0.0 : std::ranges::max(ms);
  return slowest > top ? formatted("{}, the slowest (cut off) {} ms", facts, format_short(slowest))
                       : facts;
}

}  // namespace

json batch_times_figure(std::span<const double> ms, const std::string& title) {
  const BatchTimes times = summarize_times(ms);
  const double top = top_of_axis(times, ms);
  json panel{
      {"width", kWidth},
      {"height", kHeight},
      {"x",
       {{"name", "batch"},
        {"low", 0.5},
        {"high", static_cast<double>(std::max<std::size_t>(ms.size(), 1)) + 0.5},
        {"counts_things", true}}},
      {"y", {{"name", "time of a batch (ms)"}, {"low", 0.0}, {"high", top}}},
      {"columns",
       json::array(
           {{{"name", "time"}, {"colour", "blue"}, {"values", slowest_of_each_column(ms)}}})},
      {"levels", json::array()}};
  if (!ms.empty()) {
    panel["levels"] = {{{"name", "mean " + format_short(times.mean_ms)},
                        {"colour", "vermilion"},
                        {"at", times.mean_ms}},
                       {{"name", "95 % below " + format_short(times.p95_ms)},
                        {"colour", "ink"},
                        {"at", times.p95_ms}}};
  }
  return {{"title", title},
          {"aside", facts_of(times, ms, top)},
          {"panels", json::array({std::move(panel)})}};
}

}  // namespace xtts::report
