// Draws a Chart as HTML: a figure with an SVG whose text stays text, and its numbers as a table for
// those who cannot see it. Pure function; any thread. Equal charts give equal bytes.
//
// A chart is 360 units wide, so that its letters are readable on a phone. Colours are variables of
// the page's style sheet, and nothing is said by colour alone.
#pragma once

#include <string>
#include <string_view>

#include "report/chart.hpp"

namespace xtts::report {

// `id` is unique on the page: letters, digits and "-".
[[nodiscard]] std::string html_chart(const Chart& chart, std::string_view id);

}  // namespace xtts::report
