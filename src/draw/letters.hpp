// Letters: writes texts on a page, in every script that the machine's fonts have. One thread at a
// time.
#pragma once

#include <cairo.h>
#include <pango/pango.h>

#include <cstddef>
#include <memory>
#include <string>

#include "draw/theme.hpp"

namespace xtts::draw {

struct Size {
  double width = 0.0;
  double height = 0.0;
};

// Which point of a text's box is at the given place.
enum class Anchor { kTopLeft, kTopRight, kTopMiddle, kMiddleLeft, kMiddleRight };

struct TextStyle {
  double size = 12.0;  // points
  Role role = Role::kInk;
  bool is_bold = false;
};

class Letters {
 public:
  static constexpr double kAnyWidth = 1e9;

  explicit Letters(cairo_t* cairo);

  [[nodiscard]] Size measure(const std::string& text, const TextStyle& style) const;
  // A text that is wider than `width_max` is cut and ends in "…".
  void write(double x, double y, Anchor anchor, const std::string& text, const TextStyle& style,
             double width_max = kAnyWidth);
  // Writes up to `line_count` lines of `width` and returns their height; what is longer ends in
  // "…". Persian and other scripts that go leftwards begin at the right.
  double write_lines(double x, double y, double width, int line_count, const std::string& text,
                     const TextStyle& style);
  // Writes turned text, which reads from bottom to top; (x, y) is the middle of its box. A text
  // that is longer than `length_max` is cut and ends in "…".
  void write_upwards(double x, double y, const std::string& text, const TextStyle& style,
                     double length_max);

  // How many letters had no shape in any font, so that a box with a number stands in their place.
  [[nodiscard]] std::size_t missing_count() const noexcept { return missing_count_; }
  [[nodiscard]] static bool has_fonts();

 private:
  struct FreeLayout {
    void operator()(PangoLayout* layout) const noexcept;
  };
  using Layout = std::unique_ptr<PangoLayout, FreeLayout>;

  [[nodiscard]] Layout lay_out(const std::string& text, const TextStyle& style) const;
  void paint(double x, double y, PangoLayout* layout, Role role);

  cairo_t* cairo_;
  std::size_t missing_count_ = 0;
};

}  // namespace xtts::draw
