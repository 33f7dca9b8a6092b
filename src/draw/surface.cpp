#include "draw/surface.hpp"

#include <cairo-svg.h>

#include <cmath>

namespace xtts::draw {
namespace {

cairo_status_t append(void* bytes, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

Status failure(cairo_status_t status) {
  const auto code =
      status == CAIRO_STATUS_NO_MEMORY ? StatusCode::kResource : StatusCode::kInternal;
  return {code, std::string("Cairo: ") + cairo_status_to_string(status)};
}

}  // namespace

Surface::Surface(cairo_surface_t* surface, bool is_png)
    : surface_(surface), cairo_(cairo_create(surface)), is_png_(is_png) {}

Surface Surface::png(double width, double height) {
  const auto pixels = [](double points) {
    return static_cast<int>(std::ceil(points * kPixelsPerPoint));
  };
  cairo_surface_t* const image =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(width), pixels(height));
  cairo_surface_set_device_scale(image, kPixelsPerPoint, kPixelsPerPoint);
  return {image, true};
}

Surface Surface::svg(double width, double height, std::string* bytes) {
  cairo_surface_t* const svg = cairo_svg_surface_create_for_stream(append, bytes, width, height);
  // In points, 800 wide would be 1,067 pixels of a page.
  cairo_svg_surface_set_document_unit(svg, CAIRO_SVG_UNIT_PX);
  return {svg, false};
}

Result<std::string> Surface::finish() {
  if (const auto status = cairo_status(cairo_.get()); status != CAIRO_STATUS_SUCCESS)
    return failure(status);
  cairo_.reset();
  std::string bytes;
  auto status = CAIRO_STATUS_SUCCESS;
  if (is_png_) status = cairo_surface_write_to_png_stream(surface_.get(), append, &bytes);
  cairo_surface_finish(surface_.get());
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface_.get());
  if (status != CAIRO_STATUS_SUCCESS) return failure(status);
  return bytes;
}

}  // namespace xtts::draw
