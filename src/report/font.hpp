// A font of 5 x 7 points for the labels of pictures, drawn for this project: printable ASCII. With
// it, a picture does not depend on the machine's fonts. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace xtts::report {

inline constexpr std::size_t kGlyphWidth = 5;
inline constexpr std::size_t kGlyphHeight = 7;
inline constexpr std::size_t kGlyphAdvance = 6;

// Returns the rows from top to bottom. Letters that reach below the line have two rows more than
// kGlyphHeight. '#' is ink. One character without meaning follows each row. A character that the
// font lacks is a hollow box.
[[nodiscard]] std::string_view glyph_rows(char character) noexcept;

}  // namespace xtts::report
