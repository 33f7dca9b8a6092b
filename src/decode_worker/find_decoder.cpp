#include "decode_worker/find_decoder.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/system_call.hpp"

namespace xtts::decode_worker {
namespace {

constexpr const char* kInBuildFolder = "../libexec/xtts-precompute";

}  // namespace

Result<std::string> find_decoder(const std::string& folder, const std::string& installed) {
  std::string looked_at = folder.empty() ? "nobody knows where this program lies" : "";
  for (const std::string& place : {std::string(), installed, std::string(kInBuildFolder)}) {
    if (folder.empty()) break;
    const std::string program = std::filesystem::path(folder) / place / "xtts-decode";
    if (::access(program.c_str(), X_OK) == 0) return program;
    const std::string said = program + ": " + error_words(errno);
    if (looked_at.find(said) == std::string::npos)
      looked_at += (looked_at.empty() ? "" : "; ") + said;
  }
  return Status(StatusCode::kNotFound,
                "the program xtts-decode, in whose processes audio is decoded, cannot be run (" +
                    looked_at + "): install xtts-precompute again, as a whole");
}

}  // namespace xtts::decode_worker
