// Canvas: a picture that is being drawn. It has pixels, rectangles, and text in the font of
// font.hpp. It clips what lies outside. One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/colormap.hpp"
#include "xtts/status.hpp"

namespace xtts::report {

// The colours that all pictures share.
inline constexpr Rgb kPaper{255, 255, 255};
inline constexpr Rgb kInk{34, 34, 40};
inline constexpr Rgb kSoftInk{110, 110, 120};

class Canvas {
 public:
  Canvas(int width, int height, Rgb background);

  [[nodiscard]] int width() const noexcept { return width_; }
  [[nodiscard]] int height() const noexcept { return height_; }
  [[nodiscard]] Rgb pixel(int x, int y) const;

  void set(int x, int y, Rgb colour);
  void fill(int x, int y, int width, int height, Rgb colour);
  void frame(int x, int y, int width, int height,
             Rgb colour);  // its four sides, one pixel wide, inside
  // (x, y) is the top left corner; `scale` is the pixels of one font point.
  void text(int x, int y, std::string_view text, Rgb colour, int scale);
  // Draws text turned by a quarter, which reads from bottom to top. (x, y) is the bottom left
  // corner of the turned text's box.
  void text_upwards(int x, int y, std::string_view text, Rgb colour, int scale);

  [[nodiscard]] Result<std::string> to_png() const;

 private:
  int width_;
  int height_;
  std::vector<Rgb> pixels_;
};

[[nodiscard]] int text_width(std::string_view text, int scale);
[[nodiscard]] int text_height(int scale);

}  // namespace xtts::report
