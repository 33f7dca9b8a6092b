#include "draw/letters.hpp"

#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>

#ifdef __SANITIZE_ADDRESS__
// fontconfig keeps what it has read of the machine's fonts until the process ends.
extern "C" __attribute__((visibility("default"))) const char*
__lsan_default_suppressions() {  // NOLINT
  return "leak:libfontconfig";
}
#endif

namespace xtts::draw {
namespace {

// A text of a corpus may hold anything. Pango shows the rest of a text with broken UTF-8 as boxes,
// and a line break would make a second line.
std::string one_line(const std::string& text) {
  char* const valid = g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()));
  std::string out(valid);
  g_free(valid);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  // U+0085, U+2028 and U+2029 break lines, too.
  for (const char* const breaks : {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    const std::string_view mark(breaks);
    for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at))
      out.replace(at, mark.size(), " ");
  }
  return out;
}

Size size_of(PangoLayout* layout) {
  int width = 0;
  int height = 0;
  pango_layout_get_size(layout, &width, &height);
  return {static_cast<double>(width) / PANGO_SCALE, static_cast<double>(height) / PANGO_SCALE};
}

void cut_to(PangoLayout* layout, double width_max) {
  if (size_of(layout).width <= width_max) return;
  pango_layout_set_width(layout, static_cast<int>(width_max * PANGO_SCALE));
  pango_layout_set_height(layout, -1);  // one line
  pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
}

}  // namespace

void Letters::FreeLayout::operator()(PangoLayout* layout) const noexcept {
  g_object_unref(layout);
}

Letters::Letters(cairo_t* cairo) : cairo_(cairo) {}

Letters::Layout Letters::lay_out(const std::string& text, const TextStyle& style) const {
  Layout layout(pango_cairo_create_layout(cairo_));
  PangoFontDescription* const font = pango_font_description_new();
  pango_font_description_set_family_static(font, "sans-serif");
  pango_font_description_set_absolute_size(font, style.size * PANGO_SCALE);
  if (style.is_bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
  pango_layout_set_font_description(layout.get(), font);
  pango_font_description_free(font);
  pango_layout_set_single_paragraph_mode(layout.get(), TRUE);
  const std::string line = one_line(text);
  pango_layout_set_text(layout.get(), line.data(), static_cast<int>(line.size()));
  return layout;
}

void Letters::paint(double x, double y, PangoLayout* layout, Role role) {
  const Rgb colour = colour_of(role);
  cairo_set_source_rgb(cairo_, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
  cairo_move_to(cairo_, x, y);
  pango_cairo_show_layout(cairo_, layout);
  missing_count_ += static_cast<std::size_t>(pango_layout_get_unknown_glyphs_count(layout));
}

Size Letters::measure(const std::string& text, const TextStyle& style) const {
  return size_of(lay_out(text, style).get());
}

void Letters::write(double x, double y, Anchor anchor, const std::string& text,
                    const TextStyle& style, double width_max) {
  const Layout layout = lay_out(text, style);
  cut_to(layout.get(), width_max);
  const Size size = size_of(layout.get());
  if (anchor == Anchor::kTopRight || anchor == Anchor::kMiddleRight) x -= size.width;
  if (anchor == Anchor::kTopMiddle) x -= size.width / 2;
  if (anchor == Anchor::kMiddleLeft || anchor == Anchor::kMiddleRight) y -= size.height / 2;
  paint(x, y, layout.get(), style.role);
}

double Letters::write_lines(double x, double y, double width, int line_count,
                            const std::string& text, const TextStyle& style) {
  const Layout layout = lay_out(text, style);
  pango_layout_set_width(layout.get(), static_cast<int>(width * PANGO_SCALE));
  pango_layout_set_height(layout.get(), -line_count);
  pango_layout_set_wrap(layout.get(), PANGO_WRAP_WORD_CHAR);
  pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_END);
  paint(x, y, layout.get(), style.role);
  return size_of(layout.get()).height;
}

void Letters::write_upwards(double x, double y, const std::string& text, const TextStyle& style,
                            double length_max) {
  const Layout layout = lay_out(text, style);
  cut_to(layout.get(), length_max);
  const Size size = size_of(layout.get());
  cairo_save(cairo_);
  cairo_translate(cairo_, x, y);
  cairo_rotate(cairo_, -1.5707963267948966);
  paint(-size.width / 2, -size.height / 2, layout.get(), style.role);
  cairo_restore(cairo_);
}

bool Letters::has_fonts() {
  // Pango always lists "Sans", which says nothing.
  const FcFontSet* const fonts = FcConfigGetFonts(nullptr, FcSetSystem);
  return fonts != nullptr && fonts->nfont > 0;
}

}  // namespace xtts::draw
