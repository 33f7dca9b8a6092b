#include "cuda/library.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace xtts::cuda {
namespace {

// The library's paths in the folders of `setting`, and its name alone.
std::vector<std::string> paths_of(const char* name, const char* setting) {
  std::vector<std::string> paths;
  const char* const set = std::getenv(setting);
  std::string_view folders = set == nullptr ? "" : set;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
    if (!folder.empty()) paths.push_back(std::string(folder) + "/" + name);
  }
  paths.emplace_back(name);
  return paths;
}

}  // namespace

Result<void*> open_library(std::span<const char* const> names, const char* setting) {
  std::string why;
  for (const char* const name : names) {
    for (const std::string& path : paths_of(name, setting)) {
      void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) return library;
      const char* const reason = ::dlerror();
      why +=
          (why.empty() ? "" : "; ") + std::string(reason == nullptr ? "no reason given" : reason);
    }
  }
  return Status(StatusCode::kUnsupported, why);
}

}  // namespace xtts::cuda
