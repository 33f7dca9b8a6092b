#include "figure/draw_figure.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/run_program.hpp"
#include "figure/figure_json.hpp"

namespace xtts::figure {
namespace {

// Libraries write to the standard error, too. Only lines of the program itself are for the user.
std::vector<std::string> notes_in(std::string_view said) {
  constexpr std::string_view kOwn = "xtts-draw: ";
  std::vector<std::string> notes;
  while (!said.empty()) {
    const std::string_view line = said.substr(0, said.find('\n'));
    if (line.starts_with(kOwn)) notes.emplace_back(line.substr(kOwn.size()));
    said.remove_prefix(std::min(line.size() + 1, said.size()));
  }
  return notes;
}

// The exit codes of src/draw/main.cpp; 127 is the system's loader, which lacks a library.
StatusCode code_of(const ProgramResult& result) {
  if (result.end != ProgramEnd::kExited) return StatusCode::kInternal;
  if (result.code == 2 || result.code == 127) return StatusCode::kUnsupported;
  return result.code == 3 ? StatusCode::kResource : StatusCode::kInternal;
}

Status failure_of(const std::string& program, const ProgramResult& result) {
  const std::vector<std::string> notes = notes_in(result.errors);
  std::string why =
      notes.empty() ? result.errors.substr(0, result.errors.find('\n')) : notes.front();
  if (result.end == ProgramEnd::kSignalled) {
    why = "signal " + std::to_string(result.code) + (why.empty() ? "" : ", " + why);
  } else if (why.empty()) {
    why = result.code == 0 ? "it wrote nothing" : "exit code " + std::to_string(result.code);
  }
  return {code_of(result), "no picture could be drawn (" + program + "): " + why};
}

}  // namespace

Result<Picture> draw_figure(const std::string& program, const Figure& figure, PictureKind kind) {
  const std::string json = to_json(figure);
  auto result = run_program(
      {.arguments = {program, kind == PictureKind::kPng ? "png" : "svg"}, .input = json});
  if (!result) {
    const bool is_scarce = result.status().code() == StatusCode::kResource;
    return Status(is_scarce ? StatusCode::kResource : StatusCode::kInternal,
                  result.status().message());
  }
  // If this program ignores SIGCHLD, the exit code is unknown: the bytes say how it went.
  const bool is_known = result->end != ProgramEnd::kUnknown;
  const bool has_failed = result->end != ProgramEnd::kExited || result->code != 0;
  if ((is_known && has_failed) || result->output.empty()) return failure_of(program, *result);
  return Picture{std::move(result->output), notes_in(result->errors)};
}

}  // namespace xtts::figure
