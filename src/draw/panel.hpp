// Draws one panel: its title, what the colours mean, the plot, and both axes. One thread at a time.
#pragma once

#include <cairo.h>

#include "draw/letters.hpp"
#include "figure/figure.hpp"

namespace xtts::draw {

// The room beside the plot. All panels of a page share it, so that their plots stand in one column.
struct Margins {
  double left = 0.0;
  double right = 0.0;
};

[[nodiscard]] Margins margins_of(const figure::Panel& panel, const Letters& letters);

// (left, top) is the corner of the panel's room; its plot begins at `left`, and the name of its
// vertical axis stands at `name_x`. `says_colours`: whether the panel has a legend. Returns the
// height that the panel took.
double draw_panel(cairo_t* cairo, Letters& letters, const figure::Panel& panel, double left,
                  double top, double name_x, bool says_colours);

// Whether the two panels' legends would be the same.
[[nodiscard]] bool have_same_legend(const figure::Panel& a, const figure::Panel& b);

}  // namespace xtts::draw
