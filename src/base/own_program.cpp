#include "base/own_program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/formatted.hpp"
#include "base/system_call.hpp"

namespace xtts {
namespace {

constexpr const char* kInBuildFolder = "../libexec/xtts-precompute";

// Returns why the program may not be run; empty if it may. A folder that all users may write to can
// hold another user's program.
std::string fault_of(const std::string& program, const std::string& folder) {
  struct stat file {};
  if (::stat(program.c_str(), &file) != 0) return error_words(errno);
  if (!S_ISREG(file.st_mode)) return "not a file";
  if (::access(program.c_str(), X_OK) != 0) return error_words(errno);
  struct stat of_folder {};
  const bool is_known = ::stat(folder.c_str(), &of_folder) == 0;
  const bool is_trusted = file.st_uid == 0 || file.st_uid == ::geteuid() ||
                          (is_known && file.st_uid == of_folder.st_uid);
  if (!is_trusted || (file.st_mode & S_IWOTH) != 0)
    return "it is not run, because another user may have put it there";
  return {};
}

}  // namespace

Result<std::string> find_own_program(const std::string& name, const std::string& purpose,
                                     const std::string& folder, const std::string& installed) {
  std::string looked_at = folder.empty() ? "the folder of this program cannot be found" : "";
  for (const std::string& place : {std::string(), installed, std::string(kInBuildFolder)}) {
    if (folder.empty()) break;
    const std::string program = std::filesystem::path(folder) / place / name;
    const std::string fault = fault_of(program, folder);
    if (fault.empty()) return program;
    const std::string said = formatted("{}: {}", program, fault);
    if (looked_at.find(said) == std::string::npos)
      looked_at += (looked_at.empty() ? "" : "; ") + said;
  }
  return Status(
      StatusCode::kNotFound,
      formatted("the program {}, {}, cannot be run ({}): install xtts-precompute again, as a whole",
                name, purpose, looked_at));
}

}  // namespace xtts
