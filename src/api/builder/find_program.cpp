#include "api/builder/find_program.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/formatted.hpp"
#include "base/own_program.hpp"
#include "base/try.hpp"
#include "decode_worker/contained_decoder.hpp"

namespace xtts::builder {
namespace {

// An address that lies in this library and nowhere else.
constexpr char kAnchor = 0;

// Returns the folder of this library's file, with links followed.
std::string library_folder() {
  Dl_info info{};
  if (::dladdr(&kAnchor, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code unknown;
  return std::filesystem::canonical(info.dli_fname, unknown).parent_path().string();
}

Result<audio::MakeDecoder> find_decoders(std::string program) {
  if (program.empty()) {
    XTTS_ASSIGN(program, find_own_program("xtts-decode", "in whose processes audio is decoded",
                                          library_folder(), XTTS_DECODER_FROM_LIBRARY));
  } else if (::access(program.c_str(), X_OK) != 0) {
    return Status(StatusCode::kNotFound, formatted("program: {} cannot be run: {}", program,
                                                   std::generic_category().message(errno)));
  }
  return decode_worker::contained_in(std::move(program));
}

}  // namespace

request::Caller caller_with(const std::string& program) {
  return {.make_decoder = [program] { return find_decoders(program); }};
}

}  // namespace xtts::builder
