#include "cli/picture_files.hpp"

#include "base/try.hpp"
#include "cli/output_file.hpp"
#include "figure/draw_figure.hpp"
#include "report/human.hpp"

namespace xtts::cli {
namespace {

using figure::PictureKind;

Status write_picture(Context& context, const std::string& path, PictureKind kind,
                     const figure::Figure& figure) {
  if (path.empty()) return {};
  XTTS_ASSIGN(const std::string program, find_draw_program());
  XTTS_ASSIGN(const figure::Picture picture, figure::draw_figure(program, figure, kind));
  XTTS_TRY(write_output_file(context.env, path, picture.bytes));
  for (const std::string& note : picture.notes) context.warn(path + ": " + note);
  context.inform("wrote " + path + ", " + report::format_size(picture.bytes.size()));
  return {};
}

}  // namespace

bool PictureFiles::go_to_stdout() const {
  return is_standard_output(png) || is_standard_output(svg);
}

Status write_pictures(Context& context, const PictureFiles& files, const figure::Figure& figure) {
  XTTS_TRY(write_picture(context, files.png, PictureKind::kPng, figure));
  return write_picture(context, files.svg, PictureKind::kSvg, figure);
}

}  // namespace xtts::cli
