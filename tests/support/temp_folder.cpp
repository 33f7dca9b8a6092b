#include "temp_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace xtts::testing {

TempFolder::TempFolder()
    : path_((std::filesystem::temp_directory_path() / "xtts-XXXXXX").string()) {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::filesystem::filesystem_error("mkdtemp", path_,
                                            std::error_code(errno, std::generic_category()));
  }
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempFolder::write(const std::string& relative_path, std::string_view contents) const {
  const std::filesystem::path path = std::filesystem::path(path_) / relative_path;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.exceptions(std::ios::badbit | std::ios::failbit);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  return path.string();
}

}  // namespace xtts::testing
