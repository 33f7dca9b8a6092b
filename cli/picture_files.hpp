// Writes a figure to the files that the user names with --png and --svg. Main thread only.
#pragma once

#include <string>

#include "cli/app.hpp"
#include "figure/figure.hpp"

namespace xtts::cli {

struct PictureFiles {
  std::string png;  // empty: no such picture is wanted
  std::string svg;

  [[nodiscard]] bool are_wanted() const { return !png.empty() || !svg.empty(); }
  [[nodiscard]] bool go_to_stdout() const;  // then nothing else may be printed
};

[[nodiscard]] Status write_pictures(Context& context, const PictureFiles& files,
                                    const figure::Figure& figure);

}  // namespace xtts::cli
