#include "cuda/library.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace xtts::cuda {
namespace {

// The folders of `setting`, if there is one, each with a slash behind. The last one is empty: where
// the system's loader looks.
std::vector<std::string> folders_of(const char* setting) {
  std::vector<std::string> folders;
  const char* const set = setting == nullptr ? nullptr : std::getenv(setting);
  std::string_view rest = set == nullptr ? "" : set;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (!folder.empty()) folders.push_back(std::string(folder) + "/");
  }
  folders.emplace_back();
  return folders;
}

}  // namespace

Result<void*> open_library(std::span<const char* const> names, const char* setting) {
  std::string why;
  for (const std::string& folder : folders_of(setting)) {
    for (const char* const name : names) {
      void* const library = ::dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) return library;
      const char* const reason = ::dlerror();
      why +=
          (why.empty() ? "" : "; ") + std::string(reason == nullptr ? "no reason given" : reason);
    }
  }
  return Status(StatusCode::kUnsupported, why);
}

}  // namespace xtts::cuda
