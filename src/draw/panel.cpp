#include "draw/panel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "draw/colormap.hpp"
#include "draw/surface.hpp"
#include "draw/ticks.hpp"

namespace xtts::draw {
namespace {

using figure::Axis;
using figure::HeatMap;
using figure::Level;
using figure::Panel;
using figure::Series;
using figure::Tick;

constexpr double kTick = 4.0;
constexpr double kGap = 4.0;
constexpr double kLine = 18.0;  // from one line of text to the next
constexpr double kBarWidth = 12.0;
constexpr double kBarGap = 14.0;
constexpr double kSwatch = 10.0;
constexpr double kLevelNameMax = 320.0;
constexpr TextStyle kPanelTitle{.size = 13.0};
constexpr TextStyle kLabel{.size = 11.0};
constexpr TextStyle kName{.size = 12.0, .role = Role::kSoftInk};

void set_colour(cairo_t* cairo, Rgb colour) {
  cairo_set_source_rgb(cairo, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
}

// The plot's place, and where a value lies in it.
struct Frame {
  double x, y, width, height;

  [[nodiscard]] double to_x(const Axis& axis, double value) const {
    return x + (value - axis.low) / (axis.high - axis.low) * width;
  }
  [[nodiscard]] double to_y(const Axis& axis, double value) const {
    return y + height - (value - axis.low) / (axis.high - axis.low) * height;
  }
};

// A line along whole pixels, which is sharp.
void draw_line(cairo_t* cairo, double x0, double y0, double x1, double y1, Rgb colour) {
  const auto sharp = [](double at) { return std::floor(at) + 0.5; };
  set_colour(cairo, colour);
  cairo_set_line_width(cairo, 1.0);
  cairo_move_to(cairo, sharp(x0), sharp(y0));
  cairo_line_to(cairo, sharp(x1), sharp(y1));
  cairo_stroke(cairo);
}

// The name of a vertical axis may reach over the plot's ends: there is nothing beside them.
double room_of_name(double height) {
  return height + 2 * kLine;
}

Axis value_axis(const HeatMap& map) {
  return {.name = map.value_name, .low = map.low, .high = map.high, .ticks = {}};
}

std::vector<Tick> vertical_ticks(const Axis& axis, double height) {
  return ticks_of(axis, std::clamp(static_cast<int>(height / 32.0), 2, 8));
}

double widest(const std::vector<Tick>& ticks, const Letters& letters) {
  double width = 0.0;
  for (const Tick& tick : ticks) width = std::max(width, letters.measure(tick.label, kLabel).width);
  return width;
}

// ---- what is in the plot

// Writes the map in the page's own pixels: a reader that smooths an enlarged image would blur it.
// Nothing is done where nothing can show: a large map costs seconds.
void draw_heat_map(cairo_t* cairo, const HeatMap& map, const Frame& frame) {
  double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0;
  cairo_clip_extents(cairo, &left, &top, &right, &bottom);
  if (left >= right || top >= bottom) return;
  const auto width = static_cast<int>(std::lround(frame.width * kPixelsPerPoint));
  const auto height = static_cast<int>(std::lround(frame.height * kPixelsPerPoint));
  const std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> image(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height), cairo_surface_destroy);
  if (cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS) {
    cairo_set_source_surface(cairo, image.get(), 0.0, 0.0);  // finish() reports it
    return;
  }
  cairo_surface_flush(image.get());
  unsigned char* const pixels = cairo_image_surface_get_data(image.get());
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(image.get()));
  const auto cell = [](int pixel, int pixels_in_all, std::size_t count) {
    return static_cast<std::size_t>(pixel) * count / static_cast<std::size_t>(pixels_in_all);
  };
  std::size_t row_before = map.row_count;
  for (int y = 0; y < height; ++y) {
    unsigned char* const place = pixels + static_cast<std::size_t>(y) * stride;
    auto* const row = reinterpret_cast<std::uint32_t*>(place);
    const std::size_t map_row = cell(height - 1 - y, height, map.row_count);
    if (map_row == std::exchange(row_before, map_row)) {
      std::memcpy(place, place - stride, stride);
      continue;
    }
    for (int x = 0; x < width; ++x) {
      const std::size_t column = cell(x, width, map.column_count);
      const Rgb colour = magma(map.levels[column * map.row_count + map_row]);
      row[x] = std::uint32_t{colour.red} << 16U | std::uint32_t{colour.green} << 8U | colour.blue;
    }
  }
  cairo_surface_mark_dirty(image.get());
  cairo_save(cairo);
  cairo_translate(cairo, frame.x, frame.y);
  cairo_scale(cairo, frame.width / width, frame.height / height);
  cairo_set_source_surface(cairo, image.get(), 0.0, 0.0);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
  cairo_paint(cairo);
  cairo_restore(cairo);
}

// Each series is drawn from the floor to the sum of all below it and itself, the highest sum first.
// So no paper shines through where two meet.
void draw_columns(cairo_t* cairo, const Panel& panel, const Frame& frame) {
  std::vector<std::vector<double>> sums;
  for (const Series& series : panel.columns) {
    std::vector<double> sum = series.values;
    if (!sums.empty()) {
      sum.resize(std::max(sum.size(), sums.back().size()));
      for (std::size_t i = 0; i < sums.back().size(); ++i) sum[i] += sums.back()[i];
    }
    sums.push_back(std::move(sum));
  }
  const double floor = frame.y + frame.height;
  for (std::size_t s = panel.columns.size(); s-- > 0;) {
    const double width =
        frame.width / static_cast<double>(std::max<std::size_t>(sums[s].size(), 1));
    const double space = width >= 6.0 ? 0.14 * width : 0.0;
    set_colour(cairo, colour_of(panel.columns[s].colour));
    for (std::size_t i = 0; i < sums[s].size(); ++i) {
      const double top = std::max(frame.to_y(panel.y, sums[s][i]), frame.y);
      const double x = frame.x + static_cast<double>(i) * width;
      if (top < floor) cairo_rectangle(cairo, x + space / 2, top, width - space, floor - top);
    }
    cairo_set_antialias(cairo, space > 0.0 ? CAIRO_ANTIALIAS_DEFAULT : CAIRO_ANTIALIAS_NONE);
    cairo_fill(cairo);
  }
  cairo_set_antialias(cairo, CAIRO_ANTIALIAS_DEFAULT);
}

void draw_outline(cairo_t* cairo, const Series& series, const Axis& axis, const Frame& frame) {
  const double width =
      frame.width / static_cast<double>(std::max<std::size_t>(series.values.size(), 1));
  cairo_move_to(cairo, frame.x, frame.y + frame.height);
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const double y =
        std::clamp(frame.to_y(axis, series.values[i]), frame.y, frame.y + frame.height);
    cairo_line_to(cairo, frame.x + static_cast<double>(i) * width, y);
    cairo_line_to(cairo, frame.x + static_cast<double>(i + 1) * width, y);
  }
  cairo_line_to(cairo, frame.x + frame.width, frame.y + frame.height);
  set_colour(cairo, colour_of(series.colour));
  cairo_set_line_width(cairo, 1.8);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  cairo_stroke(cairo);
}

// Each name stands beside its line, or as near as possible without touching another name.
void draw_levels(cairo_t* cairo, Letters& letters, const Panel& panel, const Frame& frame) {
  std::vector<const Level*> levels;
  for (const Level& level : panel.levels) {
    if (level.at >= panel.y.low && level.at <= panel.y.high) levels.push_back(&level);
  }
  std::ranges::sort(levels, std::ranges::greater(), [](const Level* level) { return level->at; });
  constexpr double kRow = 15.0;
  double free_y = frame.y;  // the middle of the next name is here or below
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double y =
        std::clamp(frame.to_y(panel.y, levels[i]->at), frame.y, frame.y + frame.height);
    draw_line(cairo, frame.x, y, frame.x + frame.width, y, colour_of(levels[i]->colour));
    const double below = static_cast<double>(levels.size() - 1 - i) * kRow;
    const double text_y = std::min(std::max(y, free_y), frame.y + frame.height - below);
    letters.write(frame.x + frame.width + 2 * kGap, text_y, Anchor::kMiddleLeft, levels[i]->name,
                  kLabel, kLevelNameMax);
    free_y = text_y + kRow;
  }
}

// ---- around the plot

// Labels in the order of their importance: one that would touch another is left out.
void draw_vertical_axis(cairo_t* cairo, Letters& letters, const Axis& axis, const Frame& frame,
                        double tick_x, Anchor anchor, bool has_grid) {
  std::vector<double> taken;
  const double direction = anchor == Anchor::kMiddleRight ? -1.0 : 1.0;
  for (const Tick& tick : vertical_ticks(axis, frame.height)) {
    const double y = frame.to_y(axis, tick.at);
    if (std::ranges::any_of(taken, [&](double other) { return std::abs(other - y) < 14.0; }))
      continue;
    taken.push_back(y);
    if (has_grid) draw_line(cairo, frame.x, y, frame.x + frame.width, y, colour_of(Role::kGrid));
    draw_line(cairo, tick_x, y, tick_x + direction * kTick, y, colour_of(Role::kSoftInk));
    letters.write(tick_x + direction * (kTick + kGap), y, anchor, tick.label, kLabel);
  }
}

// The labels by their importance, without those that would touch another one.
std::vector<Tick> ticks_with_room(const Axis& axis, const Frame& frame, const Letters& letters,
                                  double space) {
  std::vector<Tick> chosen;
  for (const Tick& tick : ticks_of(axis, 1)) {
    const auto touches = [&](const Tick& other) {
      const double widths =
          letters.measure(tick.label, kLabel).width + letters.measure(other.label, kLabel).width;
      return std::abs(frame.to_x(axis, tick.at) - frame.to_x(axis, other.at)) < widths / 2 + space;
    };
    if (std::ranges::none_of(chosen, touches)) chosen.push_back(tick);
  }
  return chosen;
}

std::vector<Tick> horizontal_ticks(const Axis& axis, const Frame& frame, const Letters& letters) {
  constexpr double kSpace = 12.0;
  if (!axis.ticks.empty()) return ticks_with_room(axis, frame, letters, kSpace);
  for (int count = 10; count > 1; --count) {
    const std::vector<Tick> ticks = ticks_of(axis, count);
    double right = -1e9;
    bool fits = true;
    for (const Tick& tick : ticks) {
      const double half = letters.measure(tick.label, kLabel).width / 2;
      const double x = frame.to_x(axis, tick.at);
      fits = fits && x - half > right;
      right = x + half + kSpace;
    }
    if (fits) return ticks;
  }
  return ticks_of(axis, 1);
}

void draw_horizontal_axis(cairo_t* cairo, Letters& letters, const Axis& axis, const Frame& frame) {
  const double floor = frame.y + frame.height;
  for (const Tick& tick : horizontal_ticks(axis, frame, letters)) {
    const double x = frame.to_x(axis, tick.at);
    draw_line(cairo, x, floor, x, floor + kTick, colour_of(Role::kSoftInk));
    letters.write(x, floor + kTick + 2.0, Anchor::kTopMiddle, tick.label, kLabel);
  }
  letters.write(frame.x + frame.width / 2, floor + kTick + 2.0 + kLine, Anchor::kTopMiddle,
                axis.name, kName, frame.width);
}

void draw_colour_bar(cairo_t* cairo, Letters& letters, const HeatMap& map, const Frame& frame) {
  HeatMap all{.column_count = 1, .row_count = 256, .levels = {}, .value_name = {}};
  for (std::int16_t level = 0; level < 256; ++level) all.levels.push_back(level);
  const Frame bar{frame.x + frame.width + kBarGap, frame.y, kBarWidth, frame.height};
  draw_heat_map(cairo, all, bar);
  const Axis axis = value_axis(map);
  draw_vertical_axis(cairo, letters, axis, bar, bar.x + bar.width, Anchor::kMiddleLeft, false);
  const double labels = widest(vertical_ticks(axis, frame.height), letters);
  letters.write_upwards(bar.x + bar.width + kTick + 2 * kGap + labels + kLine / 2,
                        frame.y + frame.height / 2, axis.name, kName, room_of_name(frame.height));
}

struct LegendEntry {
  const Series* series;
  bool is_line;

  friend bool operator==(const LegendEntry& a, const LegendEntry& b) {
    return a.series->name == b.series->name && a.series->colour == b.series->colour &&
           a.is_line == b.is_line;
  }
};

std::vector<LegendEntry> legend_of(const Panel& panel) {
  std::vector<LegendEntry> entries;
  for (const Series& series : panel.columns) entries.push_back({&series, false});
  for (const Series& series : panel.outlines) entries.push_back({&series, true});
  if (entries.size() == 1) entries.clear();  // the title says what it is
  return entries;
}

// As many rows as the names need. Returns their height.
double draw_legend(cairo_t* cairo, Letters& letters, const Panel& panel, double left, double top) {
  const double width = panel.width;
  double x = left;
  double y = top;
  const std::vector<LegendEntry> entries = legend_of(panel);
  for (const LegendEntry& entry : entries) {
    const double mark = entry.is_line ? 1.8 * kSwatch : kSwatch;
    const double name_width =
        std::min(letters.measure(entry.series->name, kLabel).width, 0.4 * width);
    if (x > left && x + mark + kGap + name_width > left + width) {
      x = left;
      y += kLine;
    }
    set_colour(cairo, colour_of(entry.series->colour));
    const double height = entry.is_line ? 2.0 : kSwatch;
    cairo_rectangle(cairo, x, y + (kLine - height) / 2, mark, height);
    cairo_fill(cairo);
    letters.write_lines(x + mark + kGap + 1.0, y + 1.0, name_width + 2.0, 1, entry.series->name,
                        kLabel);
    x += mark + kGap + name_width + 18.0;
  }
  return entries.empty() ? 0.0 : y + kLine - top;
}

}  // namespace

Margins margins_of(const Panel& panel, const Letters& letters) {
  Margins margins;
  const double name = panel.y.name.empty() ? 0.0 : kLine + kGap;
  margins.left = widest(vertical_ticks(panel.y, panel.height), letters) + kTick + 2 * kGap + name;
  if (panel.heat_map) {
    const Axis axis = value_axis(*panel.heat_map);
    margins.right = kBarGap + kBarWidth + kTick + 2 * kGap +
                    widest(vertical_ticks(axis, panel.height), letters) + kLine;
  }
  for (const Level& level : panel.levels) {
    const double width = std::min(letters.measure(level.name, kLabel).width, kLevelNameMax);
    margins.right = std::max(margins.right, 2 * kGap + width);
  }
  return margins;
}

bool have_same_legend(const Panel& a, const Panel& b) {
  return legend_of(a) == legend_of(b);
}

double draw_panel(cairo_t* cairo, Letters& letters, const Panel& panel, double left, double top,
                  double name_x, bool says_colours) {
  double y = top;
  if (!panel.title.empty())
    y += letters.write_lines(left, y, panel.width, 2, panel.title, kPanelTitle) + kGap;
  if (says_colours) y += draw_legend(cairo, letters, panel, left, y);
  y = std::round(y + kGap);
  const Frame frame{left, y, panel.width, panel.height};
  const bool is_map = panel.heat_map.has_value();
  if (is_map) draw_heat_map(cairo, *panel.heat_map, frame);
  draw_vertical_axis(cairo, letters, panel.y, frame, frame.x, Anchor::kMiddleRight, !is_map);
  draw_columns(cairo, panel, frame);
  for (const Series& series : panel.outlines) draw_outline(cairo, series, panel.y, frame);
  draw_levels(cairo, letters, panel, frame);
  if (is_map) draw_colour_bar(cairo, letters, *panel.heat_map, frame);
  draw_line(cairo, frame.x, frame.y + frame.height, frame.x + frame.width, frame.y + frame.height,
            colour_of(Role::kSoftInk));
  draw_horizontal_axis(cairo, letters, panel.x, frame);
  letters.write_upwards(name_x, y + panel.height / 2, panel.y.name, kName,
                        room_of_name(panel.height));
  const double name = panel.x.name.empty() ? 0.0 : kLine;
  return y + panel.height + kTick + 2.0 + kLine + name - top;
}

}  // namespace xtts::draw
