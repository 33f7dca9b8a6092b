// The colours of a picture, on light and on dark paper. Immutable.
#pragma once

#include <string>

#include "draw/colormap.hpp"
#include "figure/figure.hpp"

namespace xtts::draw {

// What is not data: it has one colour on light paper and another on dark paper.
enum class Role { kPaper, kInk, kSoftInk, kGrid };

// The colours on light paper, in which all pictures are drawn.
[[nodiscard]] Rgb colour_of(Role role);
[[nodiscard]] Rgb colour_of(figure::Colour colour);

// Returns an SVG that follows the reader's wish for dark pages: `svg`, as Cairo wrote it, with a
// style sheet that gives each role its dark colour. It has `title` and `description` for those who
// cannot see the picture, too. Readers without style sheets show the light picture.
[[nodiscard]] std::string with_dark_colours(std::string svg, const std::string& title,
                                            const std::string& description);

}  // namespace xtts::draw
