#include "request/temporary_folder.hpp"

#include <cstdlib>
#include <utility>

#include "base/env.hpp"

namespace xtts::request {

std::string temporary_folder(Env& env) {
  const char* const chosen = std::getenv("TMPDIR");
  const std::string folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  const auto absolute = env.real_path(folder);
  return absolute ? *absolute : folder;
}

}  // namespace xtts::request
