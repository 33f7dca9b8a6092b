// TempFolder: a folder of the real file system, for tests that need links, FIFOs or real files. The
// object owns the folder and everything in it, and removes it. One thread at a time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace xtts::testing {

class TempFolder {
 public:
  TempFolder();  // throws std::filesystem::filesystem_error: a test cannot go on without
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Writes a file below the folder and makes its parents. Returns its path.
  std::string write(const std::string& relative_path, std::string_view contents) const;

 private:
  std::string path_;
};

}  // namespace xtts::testing
