// A font of 5 x 7 points for the labels of pictures, drawn for this project: printable ASCII. A
// picture must not depend on what fonts a machine has. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace xtts::report {

inline constexpr std::size_t kGlyphWidth = 5;
inline constexpr std::size_t kGlyphHeight = 7;
inline constexpr std::size_t kGlyphAdvance = 6;

// Rows from top to bottom (two more than kGlyphHeight for letters that reach below the line), '#'
// for ink, each row followed by one character that does not count. A character that the font lacks
// is a hollow box.
[[nodiscard]] std::string_view glyph_rows(char character) noexcept;

}  // namespace xtts::report
