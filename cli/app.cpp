#include "cli/app.hpp"

#include <array>
#include <cctype>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "base/formatted.hpp"
#include "base/own_program.hpp"
#include "base/try.hpp"
#include "decode_worker/contained_decoder.hpp"
#include "report/human.hpp"
#include "request/json_text.hpp"

namespace xtts::cli {
namespace {

constexpr std::array<const char*, 4> kLogLevels{"error", "warning", "info", "debug"};

}  // namespace

void Context::print(std::string_view text) {
  if (!flags.json) out.write(text);
}

void Context::summarize(std::string_view text) {
  if (!flags.quiet) print(text);
}

void Context::print_json(const nlohmann::json& document) {
  if (!flags.json || json_written_) return;
  json_written_ = true;
  out.write(request::dump_json(document, 2) + "\n");
}

int Context::verbosity() const {
  if (flags.quiet) return 0;
  for (std::size_t i = 0; i < kLogLevels.size(); ++i) {
    if (flags.log_level == kLogLevels[i]) return static_cast<int>(i);
  }
  return 2;
}

void Context::tell(std::string_view before, std::string_view message) {
  err.write(formatted("{}{}\n", before, report::escape_controls_in_lines(message)));
}

void Context::warn(std::string_view message) {
  if (verbosity() >= 1) tell("warning: ", message);
}

void Context::inform(std::string_view message) {
  if (verbosity() >= 2) tell("", message);
}

void Context::debug(std::string_view message) {
  if (verbosity() >= 3) tell("debug: ", message);
}

bool Context::shows_progress() const {
  return verbosity() >= 2;
}

std::vector<std::string> log_levels() {
  return {kLogLevels.begin(), kLogLevels.end()};
}

int exit_code_of(const Status& status, int signal) {
  switch (status.code()) {
    case StatusCode::kOk:
      return 0;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kMismatch:
    case StatusCode::kUnsupported:
      return 2;
    case StatusCode::kTooManyRejects:
      return 3;
    case StatusCode::kCorrupt:
      return 4;
    case StatusCode::kBusy:
      return 5;
    case StatusCode::kResource:
    case StatusCode::kSourceIo:
    case StatusCode::kBadInput:  // the only source, in `show --wav`
    case StatusCode::kCrashed:
      return 6;
    case StatusCode::kCancelled:
      return 128 + (signal == 0 ? SIGINT : signal);
    case StatusCode::kInternal:
      return 1;
  }
  return 1;
}

std::string json_code_name(StatusCode code) {
  std::string name;
  for (const char c : to_string(code)) {
    if (c == '/') continue;  // "source I/O" is source_io
    name += c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

Result<audio::MakeDecoder> find_decoders() {
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  XTTS_ASSIGN(std::string decoder,
              find_own_program("xtts-decode", "in whose processes audio is decoded",
                               program.parent_path().string(), XTTS_LIBEXEC_FROM_PROGRAM));
  return decode_worker::contained_in(std::move(decoder));
}

}  // namespace xtts::cli
