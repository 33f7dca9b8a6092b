// The files of PTX that CMake gives to the tests of kernels (xtts_give_ptx), as parameters of
// tests.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace xtts::testing::ptx {

// `files`: the stored one and, behind a colon, the one that this machine's compiler has written.
[[nodiscard]] inline std::vector<std::string> kernel_files(const std::string& files) {
  std::vector<std::string> names;
  std::istringstream list(files);
  for (std::string name; std::getline(list, name, ':');) names.push_back(name);
  return names;
}

[[nodiscard]] inline std::string name_of_file(const ::testing::TestParamInfo<std::string>& info) {
  return info.index == 0 ? "Stored" : "JustCompiled";
}

[[nodiscard]] inline std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace xtts::testing::ptx
