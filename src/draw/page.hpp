// Draws a whole figure: the titles, then the panels, one below the other. One thread at a time.
#pragma once

#include <cstddef>
#include <string>

#include "figure/figure.hpp"
#include "xtts/status.hpp"

namespace xtts::draw {

struct Page {
  std::string bytes;
  std::size_t missing_letter_count = 0;  // without a shape in the fonts of this machine
};

// kUnsupported where the machine has no font at all; kResource where memory does not suffice.
[[nodiscard]] Result<Page> draw_png(const figure::Figure& figure);
// The SVG has dark colours for readers who prefer dark pages.
[[nodiscard]] Result<Page> draw_svg(const figure::Figure& figure);

}  // namespace xtts::draw
