#include "draw/page.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/try.hpp"
#include "draw/letters.hpp"
#include "draw/panel.hpp"
#include "draw/surface.hpp"
#include "draw/theme.hpp"

namespace xtts::draw {
namespace {

using figure::Figure;
using figure::Panel;

constexpr double kMargin = 16.0;
constexpr double kBetweenPanels = 22.0;
constexpr double kPointsMax = 16000.0;
constexpr TextStyle kTitle{.size = 15.0, .is_bold = true};
constexpr TextStyle kAside{.size = 12.0, .role = Role::kSoftInk};
constexpr TextStyle kSubtitle{.size = 13.0};

// Returns the height of the titles.
double draw_titles(Letters& letters, const Figure& figure, double left, double width) {
  double y = kMargin;
  const Size aside = letters.measure(figure.aside, kAside);
  const double room = aside.width > 0.0 ? width - aside.width - 2 * kMargin : width;
  if (!figure.aside.empty())
    letters.write(left + width, y + 2.0, Anchor::kTopRight, figure.aside, kAside);
  if (!figure.title.empty()) {
    y += letters.write_lines(left, y, std::max(room, 0.3 * width), 2, figure.title, kTitle);
  } else if (!figure.aside.empty()) {
    y += aside.height;
  }
  if (!figure.subtitle.empty())
    y += 2.0 + letters.write_lines(left, y + 2.0, width, 2, figure.subtitle, kSubtitle);
  return y + 10.0;
}

// Draws the figure, and returns the size that it took.
Size draw_all(cairo_t* cairo, Letters& letters, const Figure& figure) {
  Margins margins;
  double width = 0.0;
  for (const Panel& panel : figure.panels) {
    const Margins own = margins_of(panel, letters);
    margins.left = std::max(margins.left, own.left);
    margins.right = std::max(margins.right, own.right);
    width = std::max(width, panel.width);
  }
  const double left = std::ceil(kMargin + margins.left);
  double y = draw_titles(letters, figure, left, width);
  const Panel* previous = nullptr;
  for (const Panel& panel : figure.panels) {
    const bool says_colours = previous == nullptr || !have_same_legend(*previous, panel);
    y += draw_panel(cairo, letters, panel, left, y, 1.5 * kMargin, says_colours) + kBetweenPanels;
    previous = &panel;
  }
  // The last label of the horizontal axis reaches beyond the plot.
  const double right = std::max(margins.right, 1.5 * kMargin);
  return {std::ceil(left + width + right + kMargin), std::ceil(y - kBetweenPanels + kMargin)};
}

// Paper has no size before the figure is drawn: it is drawn on nothing first.
Result<Size> size_of(const Figure& figure) {
  if (!Letters::has_fonts()) {
    return Status(StatusCode::kUnsupported,
                  "this machine has no font: install one, on Debian and Ubuntu as root with "
                  "apt-get install fonts-dejavu-core");
  }
  std::string bytes;
  Surface scratch = Surface::svg(1.0, 1.0, &bytes);
  cairo_rectangle(scratch.cairo(), 0.0, 0.0, 0.0, 0.0);
  cairo_clip(scratch.cairo());
  Letters letters(scratch.cairo());
  const Size size = draw_all(scratch.cairo(), letters, figure);
  XTTS_TRY(scratch.finish().status());
  if (std::max(size.width, size.height) > kPointsMax) {
    return Status(StatusCode::kInvalidArgument, "the picture is larger than 16000 points");
  }
  return size;
}

Result<Page> draw_on(Surface surface, const Figure& figure) {
  const Rgb paper = colour_of(Role::kPaper);
  cairo_set_source_rgb(surface.cairo(), paper.red / 255.0, paper.green / 255.0, paper.blue / 255.0);
  cairo_paint(surface.cairo());
  Letters letters(surface.cairo());
  draw_all(surface.cairo(), letters, figure);
  XTTS_ASSIGN(std::string bytes, surface.finish());
  return Page{std::move(bytes), letters.missing_count()};
}

}  // namespace

Result<Page> draw_png(const Figure& figure) {
  XTTS_ASSIGN(const Size size, size_of(figure));
  return draw_on(Surface::png(size.width, size.height), figure);
}

Result<Page> draw_svg(const Figure& figure) {
  XTTS_ASSIGN(const Size size, size_of(figure));
  std::string bytes;
  XTTS_ASSIGN(Page page, draw_on(Surface::svg(size.width, size.height, &bytes), figure));
  page.bytes = with_dark_colours(std::move(bytes), figure.title, figure.subtitle);
  return page;
}

}  // namespace xtts::draw
