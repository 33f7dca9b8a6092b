#include "report/canvas.hpp"

#include <algorithm>

#include "report/font.hpp"
#include "report/png.hpp"

namespace xtts::report {
namespace {

constexpr int kAdvance = static_cast<int>(kGlyphAdvance);

// Calls draw(column, row) for each point of ink, counted from the top left corner of the text.
template <typename Draw>
void for_each_point(std::string_view text, Draw draw) {
  int left = 0;
  for (const char character : text) {
    const std::string_view rows = glyph_rows(character);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto column = static_cast<int>(i % (kGlyphWidth + 1));
      const auto row = static_cast<int>(i / (kGlyphWidth + 1));
      if (rows[i] == '#') draw(left + column, row);
    }
    left += kAdvance;
  }
}

}  // namespace

Canvas::Canvas(int width, int height, Rgb background)
    : width_(std::max(width, 1)),
      height_(std::max(height, 1)),
      pixels_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), background) {}

Rgb Canvas::pixel(int x, int y) const {
  return pixels_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                 static_cast<std::size_t>(x)];
}

void Canvas::set(int x, int y, Rgb colour) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  pixels_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
          static_cast<std::size_t>(x)] = colour;
}

void Canvas::fill(int x, int y, int width, int height, Rgb colour) {
  for (int row = y; row < y + height; ++row) {
    for (int column = x; column < x + width; ++column) set(column, row, colour);
  }
}

void Canvas::frame(int x, int y, int width, int height, Rgb colour) {
  fill(x, y, width, 1, colour);
  fill(x, y + height - 1, width, 1, colour);
  fill(x, y, 1, height, colour);
  fill(x + width - 1, y, 1, height, colour);
}

void Canvas::text(int x, int y, std::string_view text, Rgb colour, int scale) {
  for_each_point(text, [&](int column, int row) {
    fill(x + column * scale, y + row * scale, scale, scale, colour);
  });
}

void Canvas::text_upwards(int x, int y, std::string_view text, Rgb colour, int scale) {
  for_each_point(text, [&](int column, int row) {
    fill(x + row * scale, y - (column + 1) * scale, scale, scale, colour);
  });
}

Result<std::string> Canvas::to_png() const {
  return encode_png(pixels_, static_cast<std::size_t>(width_), static_cast<std::size_t>(height_));
}

int text_width(std::string_view text, int scale) {
  return text.empty() ? 0 : (static_cast<int>(text.size()) * kAdvance - 1) * scale;
}

int text_height(int scale) {
  return static_cast<int>(kGlyphHeight) * scale;
}

}  // namespace xtts::report
