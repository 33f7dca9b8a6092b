// Texts, rectangles and lines of an SVG, and how wide its texts are. Pure functions; any thread.
// All lengths are in units of the SVG.
#pragma once

#include <string>
#include <string_view>

namespace xtts::report {

// A length or a place: "12.3".
[[nodiscard]] std::string svg_number(double value);
[[nodiscard]] std::string svg_text(double x, double y, std::string_view text,
                                   std::string_view css_class = {}, std::string_view anchor = {});
[[nodiscard]] std::string svg_rect(double x, double y, double width, double height,
                                   std::string_view css_class);
[[nodiscard]] std::string svg_line(double x1, double y1, double x2, double y2,
                                   std::string_view css_class);

// Widths of letters of 11 units, in a wide font (DejaVu Sans): other fonts need less room.
[[nodiscard]] double text_width(std::string_view text);
// A text that is no wider than `width` units.
[[nodiscard]] std::string fitting(std::string_view text, double width);

}  // namespace xtts::report
