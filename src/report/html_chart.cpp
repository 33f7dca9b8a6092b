#include "report/html_chart.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "report/chart_drawing.hpp"
#include "report/html_text.hpp"
#include "report/human.hpp"
#include "report/svg.hpp"

namespace xtts::report {
namespace {

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
    html += "<svg viewBox=\"0 0 360 " + svg_number(drawing.height) +
            "\" role=\"img\" aria-labelledby=\"" + name + "-t " + name + "-d\"><title id=\"" +
            name + "-t\">" + escape_html(chart.title) + "</title><desc id=\"" + name + "-d\">" +
            escape_html(drawing.description) + "</desc>" + drawing.svg + "</svg>";
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
