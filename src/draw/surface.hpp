// Surface: what Cairo draws on, and the bytes of the picture afterwards. One thread at a time.
#pragma once

#include <cairo.h>

#include <memory>
#include <string>

#include "xtts/status.hpp"

namespace xtts::draw {

// A PNG has this many pixels a point, so that letters are sharp on today's screens.
inline constexpr double kPixelsPerPoint = 2.0;

class Surface {
 public:
  // Makes one of so many points. `bytes` must live longer.
  [[nodiscard]] static Surface png(double width, double height);
  [[nodiscard]] static Surface svg(double width, double height, std::string* bytes);

  [[nodiscard]] cairo_t* cairo() const noexcept { return cairo_.get(); }
  // Ends the drawing, and returns the PNG, or nothing for an SVG, whose bytes are whole then.
  [[nodiscard]] Result<std::string> finish();

 private:
  struct Free {
    void operator()(cairo_surface_t* surface) const noexcept { cairo_surface_destroy(surface); }
    void operator()(cairo_t* cairo) const noexcept { cairo_destroy(cairo); }
  };
  Surface(cairo_surface_t* surface, bool is_png);

  std::unique_ptr<cairo_surface_t, Free> surface_;
  std::unique_ptr<cairo_t, Free> cairo_;
  bool is_png_;
};

}  // namespace xtts::draw
