// Draws a figure: starts xtts-draw, which links Cairo and Pango, and takes the picture from it.
// Any thread.
#pragma once

#include <string>
#include <vector>

#include "figure/figure.hpp"
#include "xtts/status.hpp"

namespace xtts::figure {

enum class PictureKind { kPng, kSvg };

struct Picture {
  std::string bytes;
  std::vector<std::string> notes;  // "2 letters have no shape in the fonts ..."
};

// `program`: xtts-draw, by its path. kInternal with the program's own words where it fails;
// kUnsupported where the machine has no font, or a library is missing; kResource where the system
// refuses a process or memory.
[[nodiscard]] Result<Picture> draw_figure(const std::string& program, const Figure& figure,
                                          PictureKind kind);

}  // namespace xtts::figure
