#include "figure/figure_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace xtts::figure {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<Colour, std::string_view>, 12> kColourNames{
    {{Colour::kInk, "ink"},
     {Colour::kBlue, "blue"},
     {Colour::kVermilion, "vermilion"},
     {Colour::kGreen, "green"},
     {Colour::kOrange, "orange"},
     {Colour::kSky, "sky"},
     {Colour::kPurple, "purple"},
     {Colour::kGrey, "grey"},
     {Colour::kYellow, "yellow"},
     {Colour::kViolet, "violet"},
     {Colour::kBrown, "brown"},
     {Colour::kTeal, "teal"}}};

constexpr double kPointsMax = 16000.0;

// Only within from_json(), which turns it into a Status.
struct BadFigure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

json series_to_json(const std::vector<Series>& all) {
  json out = json::array();
  for (const Series& one : all) {
    out.push_back({{"name", one.name},
                   {"colour", kColourNames.at(static_cast<std::size_t>(one.colour)).second},
                   {"values", one.values}});
  }
  return out;
}

json axis_to_json(const Axis& axis) {
  json ticks = json::array();
  for (const Tick& tick : axis.ticks) ticks.push_back({{"at", tick.at}, {"label", tick.label}});
  return {{"name", axis.name},
          {"low", axis.low},
          {"high", axis.high},
          {"counts_things", axis.counts_things},
          {"ticks", std::move(ticks)}};
}

json panel_to_json(const Panel& panel) {
  json out{{"title", panel.title},
           {"width", panel.width},
           {"height", panel.height},
           {"x", axis_to_json(panel.x)},
           {"y", axis_to_json(panel.y)},
           {"columns", series_to_json(panel.columns)},
           {"outlines", series_to_json(panel.outlines)},
           {"levels", json::array()}};
  for (const Level& level : panel.levels) {
    out["levels"].push_back(
        {{"name", level.name},
         {"colour", kColourNames.at(static_cast<std::size_t>(level.colour)).second},
         {"at", level.at}});
  }
  if (panel.heat_map) {
    out["heat_map"] = {{"column_count", panel.heat_map->column_count},
                       {"row_count", panel.heat_map->row_count},
                       {"levels", panel.heat_map->levels},
                       {"value_name", panel.heat_map->value_name},
                       {"low", panel.heat_map->low},
                       {"high", panel.heat_map->high}};
  }
  return out;
}

// Reads the members of one JSON object. The end checks that no member is left over.
class Members {
 public:
  Members(const json& object, std::string name) : object_(object), name_(std::move(name)) {
    if (!object.is_object()) throw BadFigure(name_ + " is not an object");
  }

  [[nodiscard]] const json* find(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end()) return nullptr;
    ++read_count_;
    return &*found;
  }

  [[nodiscard]] std::string text(const char* key) {
    const json* const value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) throw BadFigure(name_ + "." + key + " is not a text");
    return value->get<std::string>();
  }

  [[nodiscard]] double number(const char* key) {
    const json* const value = find(key);
    if (value == nullptr) throw BadFigure(name_ + "." + key + " is missing");
    return number_in(*value, key);
  }

  [[nodiscard]] double number_in(const json& value, const char* key) const {
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!std::isfinite(number)) throw BadFigure(name_ + "." + key + " is not a finite number");
    return number;
  }

  // Calls read(element) for each element; none where there is no such list.
  template <typename Read>
  void each(const char* key, Read read) {
    const json* const list = find(key);
    if (list == nullptr) return;
    if (!list->is_array()) throw BadFigure(name_ + "." + key + " is not a list");
    for (const json& element : *list) read(element);
  }

  [[nodiscard]] Colour colour() {
    const std::string name = text("colour");
    const auto* const found =
        std::ranges::find(kColourNames, name, &std::pair<Colour, std::string_view>::second);
    if (found == kColourNames.end()) throw BadFigure(name_ + ".colour: unknown: '" + name + "'");
    return found->first;
  }

  void end() const {
    if (read_count_ != object_.size()) throw BadFigure(name_ + " has an unknown key");
  }

 private:
  const json& object_;
  std::string name_;
  std::size_t read_count_ = 0;
};

Axis read_axis(const json* object, const std::string& name) {
  if (object == nullptr) throw BadFigure(name + " is missing");
  Members members(*object, name);
  Axis axis;
  axis.name = members.text("name");
  axis.low = members.number("low");
  axis.high = members.number("high");
  if (!(axis.low < axis.high)) throw BadFigure(name + " does not go from low to high");
  if (const json* counts = members.find("counts_things")) axis.counts_things = counts->get<bool>();
  members.each("ticks", [&](const json& element) {
    Members tick(element, name + ".ticks");
    axis.ticks.push_back({tick.number("at"), tick.text("label")});
    tick.end();
  });
  members.end();
  return axis;
}

std::vector<Series> read_series(Members& panel, const char* key) {
  std::vector<Series> all;
  panel.each(key, [&](const json& element) {
    Members members(element, key);
    Series one{members.text("name"), members.colour(), {}};
    members.each("values", [&](const json& value) {
      one.values.push_back(members.number_in(value, "values"));
    });
    members.end();
    all.push_back(std::move(one));
  });
  return all;
}

HeatMap read_heat_map(const json& object) {
  Members members(object, "heat_map");
  HeatMap map;
  const auto size = [&](const char* key) {
    const double number = members.number(key);
    if (number < 1.0 || number > 2.0 * kPointsMax)
      throw BadFigure(std::string("heat_map.") + key + " is not between 1 and 32000");
    return static_cast<std::size_t>(number);
  };
  map.column_count = size("column_count");
  map.row_count = size("row_count");
  map.value_name = members.text("value_name");
  map.low = members.number("low");
  map.high = members.number("high");
  if (!(map.low < map.high)) throw BadFigure("heat_map does not go from low to high");
  members.each("levels", [&](const json& value) {
    const double level = members.number_in(value, "levels");
    if (level < kNoValue || level > 255.0) throw BadFigure("heat_map.levels are from -1 to 255");
    map.levels.push_back(static_cast<std::int16_t>(level));
  });
  if (map.levels.size() != map.column_count * map.row_count)
    throw BadFigure("heat_map.levels do not fill column_count by row_count");
  members.end();
  return map;
}

Panel read_panel(const json& object) {
  Members members(object, "panel");
  Panel panel;
  panel.title = members.text("title");
  panel.width = members.number("width");
  panel.height = members.number("height");
  for (const double size : {panel.width, panel.height}) {
    if (size < 20.0 || size > kPointsMax)
      throw BadFigure("panel.width and panel.height are from 20 to 16000");
  }
  panel.x = read_axis(members.find("x"), "x");
  panel.y = read_axis(members.find("y"), "y");
  if (const json* map = members.find("heat_map")) panel.heat_map = read_heat_map(*map);
  panel.columns = read_series(members, "columns");
  for (const Series& one : panel.columns) {
    if (one.values.size() != panel.columns.front().values.size())
      throw BadFigure("columns differ in their number of values");
    if (std::ranges::any_of(one.values, [](double value) { return value < 0.0; }))
      throw BadFigure("columns has a value below 0");
  }
  panel.outlines = read_series(members, "outlines");
  members.each("levels", [&](const json& element) {
    Members level(element, "levels");
    panel.levels.push_back({level.text("name"), level.colour(), level.number("at")});
    level.end();
  });
  members.end();
  return panel;
}

Figure read_figure(const json& object) {
  Members members(object, "figure");
  Figure figure;
  figure.title = members.text("title");
  figure.aside = members.text("aside");
  figure.subtitle = members.text("subtitle");
  double height = 0.0;
  members.each("panels", [&](const json& element) {
    figure.panels.push_back(read_panel(element));
    height += figure.panels.back().height;
  });
  members.end();
  if (figure.panels.empty()) throw BadFigure("the figure has no panel");
  if (height > kPointsMax) throw BadFigure("the panels are higher than 16000 together");
  return figure;
}

}  // namespace

std::string to_json(const Figure& figure) {
  json panels = json::array();
  for (const Panel& panel : figure.panels) panels.push_back(panel_to_json(panel));
  const json out{{"title", figure.title},
                 {"aside", figure.aside},
                 {"subtitle", figure.subtitle},
                 {"panels", std::move(panels)}};
  // A text of a corpus may not be UTF-8.
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Figure> from_json(std::string_view text) {
  const json parsed = json::parse(text, nullptr, false);
  try {
    if (parsed.is_discarded()) throw BadFigure("the figure is not JSON");
    return read_figure(parsed);
  } catch (const BadFigure& fault) {
    return Status(StatusCode::kInvalidArgument, fault.what());
  } catch (const json::exception&) {
    return Status(StatusCode::kInvalidArgument, "the figure has a value of another type");
  }
}

}  // namespace xtts::figure
