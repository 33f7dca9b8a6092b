#include "report/svg.hpp"

#include <algorithm>
#include <cstddef>

#include "report/html_text.hpp"
#include "report/human.hpp"

namespace xtts::report {

std::string svg_number(double value) {
  return format_fixed(value, 1);
}

std::string svg_text(double x, double y, std::string_view text, std::string_view css_class,
                     std::string_view anchor) {
  std::string out = "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\"";
  if (!css_class.empty()) out += " class=\"" + std::string(css_class) + "\"";
  if (!anchor.empty()) out += " text-anchor=\"" + std::string(anchor) + "\"";
  return out + ">" + escape_html(text) + "</text>";
}

std::string svg_rect(double x, double y, double width, double height, std::string_view css_class) {
  return "<rect x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" width=\"" +
         svg_number(std::max(width, 0.0)) + "\" height=\"" + svg_number(std::max(height, 0.0)) +
         "\" class=\"" + std::string(css_class) + "\"/>";
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return "<path d=\"M" + svg_number(x1) + " " + svg_number(y1) + "L" + svg_number(x2) + " " +
         svg_number(y2) + "\" class=\"" + std::string(css_class) + "\"/>";
}

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

std::string fitting(std::string_view text, double width) {
  const std::string visible = escape_controls(text);
  auto count = static_cast<std::size_t>(std::max(width / 3.6, 1.0));
  std::string shown = shorten(visible, count);
  while (count > 1 && text_width(shown) > width) shown = shorten(visible, --count);
  return shown;
}

}  // namespace xtts::report
