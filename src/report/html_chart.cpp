#include "report/html_chart.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "report/html_text.hpp"
#include "report/human.hpp"

namespace xtts::report {
namespace {

// All lengths are in units of the SVG.
constexpr double kChartWidth = 360.0;
constexpr double kLeft = 54.0;
constexpr double kRight = 350.0;
constexpr double kPlotHeight = 140.0;
constexpr double kColumnMin = 2.0;
constexpr double kLineHeight = 13.0;
constexpr std::size_t kBarsShown = 40;
constexpr std::size_t kPartsShown = 12;
constexpr std::size_t kPartColours = 6;
// Differences of values stay finite.
constexpr double kLargest = 1e300;

std::string at(double value) {
  return format_fixed(value, 1);
}

std::string with_unit(double value, const std::string& unit) {
  return format_any(value) + (unit.empty() ? "" : " " + unit);
}

struct Cleaned {
  std::vector<double> values;
  std::size_t left_out = 0;
};

bool is_drawable(double value) {
  return std::isfinite(value);
}

double bounded(double value) {
  return std::clamp(value, -kLargest, kLargest);
}

Cleaned cleaned(std::span<const double> values) {
  Cleaned found;
  for (const double value : values) {
    if (is_drawable(value)) found.values.push_back(bounded(value));
  }
  found.left_out = values.size() - found.values.size();
  return found;
}

double mean_of_chart(std::span<const double> values) {
  double mean = 0.0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  return mean;
}

// Where a value lies between two ends, 0 to 1.
struct Scale {
  double low = 0.0;
  double high = 1.0;

  [[nodiscard]] double share(double value) const {
    return std::clamp(value / (high - low) - low / (high - low), 0.0, 1.0);
  }
};

// Takes in 0 and all values, and has some length.
Scale scale_from_zero(std::span<const double> values) {
  Scale scale{0.0, 0.0};
  for (const double value : values) {
    scale.low = std::min(scale.low, value);
    scale.high = std::max(scale.high, value);
  }
  if (!(scale.high - scale.low > 1e-300)) scale.high = scale.low + 1.0;
  return scale;
}

std::vector<double> ticks_of(const Scale& scale) {
  const double rough = scale.high / 4.0 - scale.low / 4.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if (step >= rough) break;
  }
  std::vector<double> ticks;
  if (!(step > 0.0) || !std::isfinite(step)) return ticks;
  const double first = std::ceil(scale.low / step);
  for (int i = 0; i < 8; ++i) {
    const double tick = (first + i) * step;
    if (tick > scale.high) break;
    ticks.push_back(tick);
  }
  return ticks;
}

std::string tick_label(double value) {
  if (std::abs(value) >= 1000.0 && std::abs(value) < 1e7) {
    const std::string digits =
        format_count(static_cast<std::uint64_t>(std::llround(std::abs(value))));
    return value < 0.0 ? "-" + digits : digits;
  }
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::general, 3);
  return std::string(digits.data(), end.ptr);
}

std::string svg_text(double x, double y, std::string_view text, std::string_view css_class = {},
                     std::string_view anchor = {}) {
  std::string out = "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\"";
  if (!css_class.empty()) out += " class=\"" + std::string(css_class) + "\"";
  if (!anchor.empty()) out += " text-anchor=\"" + std::string(anchor) + "\"";
  return out + ">" + escape_html(text) + "</text>";
}

std::string svg_rect(double x, double y, double width, double height, std::string_view css_class) {
  return "<rect x=\"" + at(x) + "\" y=\"" + at(y) + "\" width=\"" + at(std::max(width, 0.0)) +
         "\" height=\"" + at(std::max(height, 0.0)) + "\" class=\"" + std::string(css_class) +
         "\"/>";
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return "<path d=\"M" + at(x1) + " " + at(y1) + "L" + at(x2) + " " + at(y2) + "\" class=\"" +
         std::string(css_class) + "\"/>";
}

// Widths of letters of 11 units, in a wide font (DejaVu Sans): other fonts need less room.
double text_width(std::string_view text) {
  double width = 0.0;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool continues = byte >= 0x80 && byte < 0xc0;
    if (continues) continue;
    const auto is_among = [&](std::string_view letters) {
      return letters.find(letter) != std::string_view::npos;
    };
    if (is_among(" ilj.,:;'|!I")) {
      width += 3.6;
    } else if (byte >= 0xe0 || is_among("mwMW@%<>=+~")) {
      width += 11.0;
    } else {
      width += byte >= 'A' && byte <= 'Z' ? 8.0 : 7.0;
    }
  }
  return width;
}

// A text that is no wider than `width` units.
std::string fitting(std::string_view text, double width) {
  const std::string visible = escape_controls(text);
  auto count = static_cast<std::size_t>(std::max(width / 3.6, 1.0));
  std::string shown = shorten(visible, count);
  while (count > 1 && text_width(shown) > width) shown = shorten(visible, --count);
  return shown;
}

using Rows = std::vector<std::pair<std::string, std::string>>;

// A drawing, what it shows in one sentence, and its numbers.
struct Drawing {
  double height = 0.0;
  std::string svg;
  std::string description;
  std::string remark;  // how the marks are to be read; empty: they speak for themselves
  Rows rows;
};

std::vector<ChartLevel> drawable_levels(const std::vector<ChartLevel>& levels) {
  std::vector<ChartLevel> found;
  for (const ChartLevel& level : levels) {
    if (is_drawable(level.at)) found.push_back({level.name, bounded(level.at)});
  }
  return found;
}

void add_level_rows(const std::vector<ChartLevel>& levels, const std::string& unit,
                    Drawing& drawing) {
  for (const ChartLevel& level : levels)
    drawing.rows.emplace_back(level.name, with_unit(level.at, unit));
}

// The values' key figures, as rows and as a sentence.
void add_figures(const std::vector<double>& values, const std::string& unit, Drawing& drawing) {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  // The smallest value that the share does not exceed, as report::summarize_times has it.
  const auto quantile = [&](double share) {
    const double rank = std::ceil(share * static_cast<double>(sorted.size())) - 1.0;
    return sorted[static_cast<std::size_t>(std::max(rank, 0.0))];
  };
  const double mean = mean_of_chart(values);
  drawing.rows = {{"values", format_count(values.size())},
                  {"smallest", with_unit(sorted.front(), unit)},
                  {"half are at most", with_unit(quantile(0.5), unit)},
                  {"mean", with_unit(mean, unit)},
                  {"95 % are at most", with_unit(quantile(0.95), unit)},
                  {"largest", with_unit(sorted.back(), unit)}};
  drawing.description = format_counted(values.size(), "value", "values") + " from " +
                        format_any(sorted.front()) + " to " + with_unit(sorted.back(), unit) +
                        ", " + with_unit(mean, unit) + " on average.";
}

// The frame of a plot that has a vertical axis of values.
struct Plot {
  double top = 18.0;
  Scale y;

  [[nodiscard]] double bottom() const { return top + kPlotHeight; }
  [[nodiscard]] double y_of(double value) const { return bottom() - y.share(value) * kPlotHeight; }
};

std::string y_axis(const Plot& plot, const std::string& unit) {
  std::string svg;
  for (const double tick : ticks_of(plot.y)) {
    svg += svg_line(kLeft, plot.y_of(tick), kRight, plot.y_of(tick), "axis") +
           svg_text(kLeft - 5.0, plot.y_of(tick) + 3.5, tick_label(tick), "small", "end");
  }
  if (!unit.empty())
    svg += svg_text(kLeft - 5.0, plot.top - 8.0, fitting(unit, kLeft - 5.0), "small", "end");
  return svg;
}

// The lines' names stand at the right, one below the other where they would overlap.
std::string levels_across(const Plot& plot, std::vector<ChartLevel> levels) {
  std::ranges::stable_sort(levels, std::greater<>(), &ChartLevel::at);
  std::string svg;
  double free_y = plot.top;
  for (const ChartLevel& level : levels) {
    const double y = plot.y_of(level.at);
    const double text_y = std::max(y - 4.0, free_y);
    free_y = text_y + kLineHeight;
    svg += svg_line(kLeft, y, kRight, y, "level-line") +
           svg_text(kRight - 2.0, text_y, fitting(level.name, kRight - kLeft), "level halo", "end");
  }
  return svg;
}

// A wide band behind every second period, and a bracket over the first.
std::string period_marks(const Plot& plot, const ChartPeriod& period, std::size_t count,
                         const std::string& x_name) {
  const double unit = (kRight - kLeft) / static_cast<double>(count);
  const double length = period.length * unit;
  const double first = std::isfinite(period.first) ? std::max(period.first, 0.0) : 0.0;
  const double start = kLeft + std::fmod(first, period.length) * unit;
  std::string svg;
  if (length >= 3.0) {
    double x = start;
    while (x < kRight) {
      svg += svg_rect(x, plot.top, std::min(length, kRight - x), kPlotHeight, "band");
      x += 2.0 * length;
    }
  }
  const double end = std::min(start + length, kRight);
  const std::string length_text = format_period(period.length);
  svg +=
      "<path d=\"M" + at(start) + " " + at(plot.top) + "v-5H" + at(end) + "v5\" class=\"range\"/>";
  const std::string text = "repeats every " + length_text + (x_name.empty() ? "" : " " + x_name);
  return svg +
         svg_text(kRight, plot.top - 8.0, fitting(text, kRight - kLeft - 20.0), "strong", "end");
}

Drawing draw(const SeriesChart& chart) {
  const Cleaned data = cleaned(chart.values);
  if (data.values.empty()) return {};
  Drawing drawing;
  add_figures(data.values, chart.unit, drawing);
  const std::vector<ChartLevel> levels = drawable_levels(chart.levels);
  add_level_rows(levels, chart.unit, drawing);
  std::vector<double> all = data.values;
  for (const ChartLevel& level : levels) all.push_back(level.at);
  const std::size_t count = data.values.size();
  const Plot plot{.top = 22.0, .y = scale_from_zero(all)};
  const bool has_period = chart.period && std::isfinite(chart.period->length) &&
                          chart.period->length >= 1.0 &&
                          chart.period->length <= static_cast<double>(count);
  if (has_period) {
    drawing.svg += period_marks(plot, *chart.period, count, chart.x_name);
    const std::string length = format_period(chart.period->length);
    drawing.rows.emplace_back("repeat every", length);
    drawing.description += " They repeat every " + length + ".";
  }
  drawing.svg += y_axis(plot, chart.unit);
  const auto column_count =
      std::min(count, static_cast<std::size_t>((kRight - kLeft) / kColumnMin));
  const double width = (kRight - kLeft) / static_cast<double>(column_count);
  for (std::size_t i = 0; i < column_count; ++i) {
    const std::size_t first = i * count / column_count;
    const std::size_t end = (i + 1) * count / column_count;
    const auto group = std::span(data.values).subspan(first, end - first);
    const double x = kLeft + static_cast<double>(i) * width;
    const auto column = [&](double value, std::string_view css_class) {
      const double high = plot.y_of(std::max(value, 0.0));
      return svg_rect(x, high, width * 0.85, plot.y_of(std::min(value, 0.0)) - high, css_class);
    };
    if (group.size() > 1) {
      drawing.svg += column(std::ranges::max(group), "mark-soft");
      if (std::ranges::min(group) < 0.0)
        drawing.svg += column(std::ranges::min(group), "mark-soft");
    }
    drawing.svg += column(mean_of_chart(group), "mark");
  }
  if (column_count < count)
    drawing.remark =
        "A column stands for several values: dark up to their mean, pale up to the "
        "largest.";
  drawing.svg += levels_across(plot, levels) + svg_text(kLeft, plot.bottom() + 14.0, "1", "small") +
                 svg_text(kRight, plot.bottom() + 14.0, format_count(count), "small", "end") +
                 svg_text((kLeft + kRight) / 2.0, plot.bottom() + 14.0,
                          fitting(chart.x_name, 200.0), "small", "middle");
  drawing.height = plot.bottom() + 20.0;
  return drawing;
}

struct Bins {
  Scale range;
  std::vector<double> counts;
};

Bins bins_of(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  Bins bins{.range = {least, most}, .counts = {}};
  const double length_min = std::max(std::abs(least) * 1e-9, 1e-300);
  if (!(most - least > length_min)) {
    const double margin = std::max(std::abs(least) * 0.05, 1e-6);
    bins.range = {least - margin, least + margin};
  }
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(values.size())));
  bins.counts.assign(std::clamp<std::size_t>(root, 5, 24), 0.0);
  const auto bin_count = static_cast<double>(bins.counts.size());
  for (const double value : values) {
    const auto bin = static_cast<std::size_t>(bins.range.share(value) * bin_count);
    bins.counts[std::min(bin, bins.counts.size() - 1)] += 1.0;
  }
  return bins;
}

Drawing draw(const HistogramChart& chart) {
  const Cleaned data = cleaned(chart.values);
  if (data.values.empty()) return {};
  Drawing drawing;
  add_figures(data.values, chart.unit, drawing);
  std::vector<ChartLevel> levels = drawable_levels(chart.levels);
  add_level_rows(levels, chart.unit, drawing);
  const Bins bins = bins_of(data.values);
  const Plot plot{.top = 18.0 + kLineHeight * static_cast<double>(levels.size()),
                  .y = scale_from_zero(bins.counts)};
  drawing.svg += y_axis(plot, "count");
  // A level outside of the values has only its name, with an arrow.
  const double width = (kRight - kLeft) / static_cast<double>(bins.counts.size());
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    const double y = plot.y_of(bins.counts[i]);
    drawing.svg +=
        svg_rect(kLeft + static_cast<double>(i) * width, y, width - 1.0, plot.bottom() - y, "mark");
  }
  double text_y = 10.0;
  for (const ChartLevel& level : levels) {
    const double x = kLeft + bins.range.share(level.at) * (kRight - kLeft);
    const bool is_outside = level.at < bins.range.low || level.at > bins.range.high;
    const std::string name =
        level.name + (is_outside ? (level.at > bins.range.high ? " →" : " ←") : "");
    if (!is_outside) drawing.svg += svg_line(x, text_y + 3.0, x, plot.bottom(), "level-line");
    const bool is_right = x > (kLeft + kRight) / 2.0;
    drawing.svg += svg_text(is_right ? x - 4.0 : x + 4.0, text_y + 1.0,
                            fitting(name, (is_right ? x - kLeft : kRight - x) - 6.0), "level halo",
                            is_right ? "end" : "start");
    text_y += kLineHeight;
  }
  for (const double tick : ticks_of(bins.range)) {
    const double x = kLeft + bins.range.share(tick) * (kRight - kLeft);
    const bool is_at_end = x > kRight - 20.0;
    drawing.svg += svg_text(is_at_end ? kRight : x, plot.bottom() + 14.0, tick_label(tick), "small",
                            is_at_end ? "end" : "middle");
  }
  drawing.svg += svg_text(kRight, plot.bottom() + 27.0, fitting(chart.unit, 200.0), "small", "end");
  drawing.height = plot.bottom() + 32.0;
  return drawing;
}

std::string bar_in_words(const ChartBar& bar, const std::string& unit) {
  const bool has_range = bar.low && bar.high && is_drawable(*bar.low) && is_drawable(*bar.high);
  const std::string value = with_unit(bar.value, unit);
  if (!has_range || *bar.low == *bar.high) return value;
  return value + " (" + format_any(*bar.low) + " to " + format_any(*bar.high) + ")";
}

std::string bar_row(const ChartBar& bar, const std::string& unit, const Scale& scale, double top) {
  const double width = kChartWidth - 4.0;
  const auto x_of = [&](double value) { return 2.0 + scale.share(bounded(value)) * width; };
  const std::string value = fitting(bar_in_words(bar, unit), kChartWidth * 0.6);
  const double value_width = 1.12 * text_width(value) + 12.0;  // it is bold
  std::string svg = svg_text(2.0, top + 11.0, fitting(bar.label, kChartWidth - value_width)) +
                    svg_text(kChartWidth - 2.0, top + 11.0, value, "strong", "end");
  const double from = x_of(std::min(bar.value, 0.0));
  svg += svg_rect(2.0, top + 17.0, width, 11.0, "band") +
         svg_rect(from, top + 17.0, std::max(x_of(std::max(bar.value, 0.0)) - from, 1.0), 11.0,
                  "mark-soft");
  svg += svg_rect(x_of(bar.value) - 1.0, top + 17.0, 2.0, 11.0, "mark");
  if (bar.low && bar.high && is_drawable(*bar.low) && is_drawable(*bar.high)) {
    const std::string low = at(x_of(*bar.low));
    svg += "<path d=\"M" + low + " " + at(top + 19.0) + "v7M" + low + " " + at(top + 22.5) + "H" +
           at(x_of(*bar.high)) + "m0 -3.5v7\" class=\"range\"/>";
  }
  return svg;
}

Drawing draw(const BarsChart& chart) {
  std::vector<ChartBar> bars;
  std::vector<double> all;
  for (const ChartBar& bar : chart.bars) {
    if (!is_drawable(bar.value)) continue;
    bars.push_back(bar);
    bars.back().value = bounded(bar.value);
    for (const auto& value : {std::optional(bar.value), bar.low, bar.high})
      if (value && is_drawable(*value)) all.push_back(bounded(*value));
  }
  if (bars.empty()) return {};
  const std::vector<ChartLevel> levels = drawable_levels(chart.levels);
  for (const ChartLevel& level : levels) all.push_back(level.at);
  const Scale scale = scale_from_zero(all);
  Drawing drawing;
  for (const ChartBar& bar : bars)
    drawing.rows.emplace_back(bar.label, bar_in_words(bar, chart.unit));
  add_level_rows(levels, chart.unit, drawing);
  double top = 0.0;
  for (std::size_t i = 0; i < std::min(bars.size(), kBarsShown); ++i) {
    drawing.svg += bar_row(bars[i], chart.unit, scale, top);
    top += 36.0;
  }
  for (const ChartLevel& level : levels) {
    const double x = 2.0 + scale.share(level.at) * (kChartWidth - 4.0);
    for (std::size_t i = 0; i < std::min(bars.size(), kBarsShown); ++i) {
      const double bar_top = 36.0 * static_cast<double>(i) + 14.0;
      drawing.svg += svg_line(x, bar_top, x, bar_top + 17.0, "level-line");
    }
    const bool is_right = x > kChartWidth / 2.0;
    drawing.svg += svg_text(is_right ? x - 4.0 : x + 4.0, top + 8.0,
                            fitting(level.name, (is_right ? x : kChartWidth - x) - 8.0), "level",
                            is_right ? "end" : "start");
    top += kLineHeight;
  }
  if (bars.size() > kBarsShown)
    drawing.remark = "The first " + format_count(kBarsShown) + " of " + format_count(bars.size()) +
                     " are drawn.";
  const bool has_range = std::ranges::any_of(
      bars, [](const ChartBar& bar) { return bar.low && bar.high && *bar.low != *bar.high; });
  drawing.description = format_counted(bars.size(), "bar", "bars") + ": ";
  for (std::size_t i = 0; i < std::min<std::size_t>(bars.size(), 4); ++i)
    drawing.description += (i == 0 ? "" : "; ") + bars[i].label + " " + drawing.rows[i].second;
  drawing.description += bars.size() > 4 ? "; and more." : ".";
  if (has_range && drawing.remark.empty())
    drawing.remark = "A line with ends is the range in which the value lies.";
  drawing.height = top + 2.0;
  return drawing;
}

std::vector<ChartPart> shown_parts(const StackChart& chart) {
  std::vector<ChartPart> parts;
  for (const ChartPart& part : chart.parts) {
    if (!is_drawable(part.value)) continue;
    const double value = std::clamp(part.value, 0.0, kLargest / 1e6);
    if (parts.size() == kPartsShown) {
      parts.back().label = "all others";
      parts.back().value += value;
    } else {
      parts.push_back({part.label, value});
    }
  }
  return parts;
}

Drawing draw(const StackChart& chart) {
  const std::vector<ChartPart> parts = shown_parts(chart);
  double whole = 0.0;
  for (const ChartPart& part : parts) whole += part.value;
  if (!(whole > 0.0)) return {};
  Drawing drawing;
  double x = 2.0;
  double y = 46.0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const std::string colour = "part-" + std::to_string(i % kPartColours + 1);
    const double share = parts[i].value / whole;
    const double width = share * (kChartWidth - 4.0);
    drawing.svg += svg_rect(x, 2.0, width - 1.0, 26.0, colour);
    if (width >= 18.0) drawing.svg += svg_text(x + width / 2.0, 19.0, number, "on-part", "middle");
    x += width;
    const std::string value = fitting(
        with_unit(parts[i].value, chart.unit) + ", " + format_percent(share), kChartWidth * 0.5);
    const double value_width = 1.12 * text_width(value) + 34.0;  // it is bold
    drawing.svg += svg_rect(2.0, y - 10.0, 16.0, 13.0, colour) +
                   svg_text(10.0, y, number, "on-part", "middle") +
                   svg_text(24.0, y, fitting(parts[i].label, kChartWidth - value_width)) +
                   svg_text(kChartWidth - 2.0, y, value, "strong", "end");
    y += 17.0;
    drawing.rows.emplace_back(parts[i].label, value);
    drawing.description += (i == 0 ? "" : "; ") + parts[i].label + " " + value;
  }
  drawing.description += '.';
  drawing.rows.emplace_back("in all", with_unit(whole, chart.unit));
  drawing.height = y - 8.0;
  return drawing;
}

// The values that are not finite.
std::size_t count_left_out(const Chart& chart) {
  const auto count = [](const auto& things, auto value_of) {
    return static_cast<std::size_t>(std::ranges::count_if(
        things, [&](const auto& thing) { return !is_drawable(value_of(thing)); }));
  };
  const auto itself = [](double value) { return value; };
  const auto its_value = [](const auto& thing) { return thing.value; };
  if (const auto* series = std::get_if<SeriesChart>(&chart.content))
    return count(series->values, itself);
  if (const auto* histogram = std::get_if<HistogramChart>(&chart.content))
    return count(histogram->values, itself);
  if (const auto* bars = std::get_if<BarsChart>(&chart.content))
    return count(bars->bars, its_value);
  return count(std::get<StackChart>(chart.content).parts, its_value);
}

std::string table_of(const Rows& rows) {
  std::string html = "<details class=\"numbers\"><summary>The numbers</summary><table><tbody>";
  for (const auto& [name, value] : rows) {
    html += "<tr><th scope=\"row\">" + escape_html(name) + "</th><td class=\"value\">" +
            escape_html(value) + "</td></tr>";
  }
  return html + "</tbody></table></details>";
}

}  // namespace

std::string html_chart(const Chart& chart, std::string_view id) {
  const Drawing drawing =
      std::visit([](const auto& content) { return draw(content); }, chart.content);
  std::string html = "<figure><figcaption>" + escape_html(chart.title);
  if (!chart.note.empty()) html += html_element("span", chart.note, "note");
  html += "</figcaption>";
  if (drawing.svg.empty()) {
    html += html_element("p", "There is nothing to draw.", "note");
  } else {
    const std::string name(id);
    html += "<svg viewBox=\"0 0 360 " + at(drawing.height) + "\" role=\"img\" aria-labelledby=\"" +
            name + "-t " + name + "-d\"><title id=\"" + name + "-t\">" + escape_html(chart.title) +
            "</title><desc id=\"" + name + "-d\">" + escape_html(drawing.description) + "</desc>" +
            drawing.svg + "</svg>";
    if (!drawing.remark.empty()) html += html_element("p", drawing.remark, "note");
  }
  if (const std::size_t left_out = count_left_out(chart); left_out > 0) {
    html += html_element(
        "p", format_counted(left_out, "value is", "values are") + " not finite and left out.",
        "note");
  }
  if (!drawing.rows.empty()) html += table_of(drawing.rows);
  return html + "</figure>\n";
}

}  // namespace xtts::report
