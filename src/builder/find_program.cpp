#include "builder/find_program.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace xtts::builder {
namespace {

// In this library, and nowhere else.
const char anchor = 0;

// Of this library's file, with the slash.
std::string library_folder() {
  Dl_info info{};
  if (::dladdr(&anchor, &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string file = info.dli_fname;
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? std::string("./") : file.substr(0, slash + 1);
}

Result<std::vector<std::string>> decoder_command(const std::string& program) {
  const std::string folder = library_folder();
  const std::vector<std::string> places =
      !program.empty()
          ? std::vector<std::string>{program}
          : std::vector<std::string>{folder + "xtts-precompute",
                                     folder + XTTS_PROGRAMS_FROM_LIBRARY + "/xtts-precompute"};
  std::string looked_at;
  for (const std::string& place : places) {
    if (::access(place.c_str(), X_OK) == 0) return std::vector<std::string>{place, "decode-worker"};
    const int error = errno;
    looked_at +=
        (looked_at.empty() ? "" : "; ") + place + ": " + std::generic_category().message(error);
  }
  return Status(StatusCode::kNotFound,
                "the program xtts-precompute, whose processes decode, cannot be run (" + looked_at +
                    "): install it with the library, or name it in the option `program`");
}

}  // namespace

frontend::Asker caller_with(const std::string& program) {
  return {.spelling = frontend::Spelling::kFields,
          .decoder_command = [program] { return decoder_command(program); }};
}

}  // namespace xtts::builder
