// xtts-draw: the only program that links Cairo and Pango. xtts-precompute and the Python package
// start it: `xtts-draw png < figure.json > picture.png`, or svg.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <new>
#include <string>
#include <string_view>

#include "draw/page.hpp"
#include "figure/figure_json.hpp"

namespace {

using xtts::Result;

Result<xtts::draw::Page> draw(std::string_view kind, const std::string& json) {
  const auto figure = xtts::figure::from_json(json);
  if (!figure.ok()) return figure.status();
  return kind == "png" ? xtts::draw::draw_png(*figure) : xtts::draw::draw_svg(*figure);
}

// The exit codes that figure::draw_figure() and the Python package understand.
int exit_code_of(xtts::StatusCode code) {
  if (code == xtts::StatusCode::kUnsupported) return 2;
  return code == xtts::StatusCode::kResource ? 3 : 1;
}

int fail(const std::string& why, int exit_code = 1) {
  std::cerr << "xtts-draw: " << why << "\n";
  return exit_code;
}

int draw_from_stdin(std::string_view kind) {
  const std::string json{std::istreambuf_iterator<char>(std::cin), {}};
  const auto page = draw(kind, json);
  if (!page.ok()) return fail(page.status().message(), exit_code_of(page.status().code()));
  std::cout.write(page->bytes.data(), static_cast<std::streamsize>(page->bytes.size()));
  if (!std::cout.flush()) return fail("the picture cannot be written");
  if (page->missing_letter_count > 0) {
    std::cerr << "xtts-draw: letters without a shape in the fonts of this machine: "
              << page->missing_letter_count
              << "; on Debian and Ubuntu, as root: apt-get install fonts-noto-core "
                 "fonts-noto-cjk\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc == 2 ? argv[1] : "";
  if (kind != "png" && kind != "svg") {
    return fail(
        "a part of xtts-precompute, which starts it to draw pictures: xtts-draw png|svg < "
        "figure.json > picture");
  }
  try {
    return draw_from_stdin(kind);
  } catch (const std::bad_alloc&) {
    return fail("memory does not suffice", exit_code_of(xtts::StatusCode::kResource));
  }
}
