// Writes a figure, in the JSON of src/python/xtts_advise/picture/README.md, to the files that the
// user names with --png and --svg. The adviser draws it. Main thread only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/app.hpp"

namespace xtts::cli {

struct PictureFiles {
  std::string png;  // empty: no such picture is wanted
  std::string svg;

  [[nodiscard]] bool are_wanted() const { return !png.empty() || !svg.empty(); }
  [[nodiscard]] bool go_to_stdout() const;  // then nothing else may be printed
};

// kUnsupported where there is no Python, or where nothing makes a PNG: then the SVG is beside it.
[[nodiscard]] Status write_pictures(Context& context, const PictureFiles& files,
                                    const nlohmann::json& figure);

[[nodiscard]] Result<std::string> draw_svg(const nlohmann::json& figure);

}  // namespace xtts::cli
