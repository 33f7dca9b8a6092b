#include "cli/picture_files.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/adviser.hpp"
#include "cli/output_file.hpp"
#include "report/human.hpp"
#include "request/json_text.hpp"

namespace xtts::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kPngBegin = "\x89PNG";
constexpr std::string_view kSvgBegin = "<?xml";

// The picture's bytes say how it went: where this program's parent ignores SIGCHLD, no exit code
// is known. Where no PNG can be made, the output is the SVG, and the last line on stderr says why.
Result<ProgramResult> draw(const char* kind, const json& figure) {
  XTTS_ASSIGN(ProgramResult drawn, run_adviser({"picture", kind}, request::dump_json(figure)));
  if (drawn.output.starts_with(kPngBegin) || drawn.output.starts_with(kSvgBegin)) return drawn;
  const bool refuses = drawn.end == ProgramEnd::kExited && drawn.code == 2;
  return Status(refuses ? StatusCode::kUnsupported : StatusCode::kInternal,
                "no picture could be drawn: " + last_line(drawn.errors));
}

Status write_picture(Context& context, const std::string& path, std::string_view bytes) {
  XTTS_TRY(write_output_file(context.env, path, bytes));
  context.inform(formatted("wrote {}, {}", path, report::format_size(bytes.size())));
  return {};
}

// A FIFO or a device takes what was asked for, or nothing. A file that nobody named stays.
bool may_write_beside(const std::string& path, const std::string& other) {
  std::error_code unknown;
  const auto type = std::filesystem::status(path, unknown).type();
  const bool is_file =
      type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::regular;
  return is_file && std::filesystem::symlink_status(other, unknown).type() ==
                        std::filesystem::file_type::not_found;
}

Status write_png(Context& context, const std::string& path, const json& figure) {
  XTTS_ASSIGN(const ProgramResult drawn, draw("png", figure));
  if (drawn.output.starts_with(kPngBegin)) return write_picture(context, path, drawn.output);
  std::string why = formatted("{} could not be made: {}", path, last_line(drawn.errors));
  const std::string svg = path.substr(0, path.size() - (path.ends_with(".png") ? 4 : 0)) + ".svg";
  if (!may_write_beside(path, svg)) {
    why += "; --svg FILE needs no such program";
  } else {
    XTTS_TRY(write_picture(context, svg, drawn.output));
    why += ". The picture is in " + svg;
  }
  return {StatusCode::kUnsupported, std::move(why)};
}

}  // namespace

bool PictureFiles::go_to_stdout() const {
  return is_standard_output(png) || is_standard_output(svg);
}

Status write_pictures(Context& context, const PictureFiles& files, const json& figure) {
  if (!files.svg.empty()) {
    XTTS_ASSIGN(const std::string svg, draw_svg(figure));
    XTTS_TRY(write_picture(context, files.svg, svg));
  }
  return files.png.empty() ? Status() : write_png(context, files.png, figure);
}

Result<std::string> draw_svg(const json& figure) {
  XTTS_ASSIGN(ProgramResult drawn, draw("svg", figure));
  return std::move(drawn.output);
}

}  // namespace xtts::cli
