// A Figure as JSON: what xtts-draw reads from its standard input. README.md describes it. Pure.
#pragma once

#include <string>
#include <string_view>

#include "figure/figure.hpp"
#include "xtts/status.hpp"

namespace xtts::figure {

[[nodiscard]] std::string to_json(const Figure& figure);

// kInvalidArgument, with the reason, where the text is no figure that can be drawn: a key that is
// missing, of another type or unknown; a number that is not finite; an axis whose ends are not in
// order; a picture that is larger than 16,000 points; levels that do not fill their heat map.
[[nodiscard]] Result<Figure> from_json(std::string_view text);

}  // namespace xtts::figure
