// A small corpus of a layout, for the tests that go through all layouts (layouts_test.cpp). The
// test file of each layout declares one, at namespace scope, and the declaration registers it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/memory_env.hpp"

namespace xtts::corpus {

struct LayoutExample {
  using Files = std::vector<std::pair<std::string, std::string>>;  // path, contents

  // `why` is what discovery says of the files where they lie in `folder` ("" is DATA), and
  // `problems` what it reports of single clips.
  LayoutExample(std::string_view its_layout, std::string_view its_folder, Files its_files,
                std::string its_why, std::string its_problems = "")
      : layout(its_layout),
        folder(its_folder),
        files(std::move(its_files)),
        why(std::move(its_why)),
        problems(std::move(its_problems)) {
    all().push_back(this);
  }
  LayoutExample(const LayoutExample&) = delete;
  LayoutExample& operator=(const LayoutExample&) = delete;

  static std::vector<const LayoutExample*>& all() {
    static std::vector<const LayoutExample*> examples;
    return examples;
  }

  // Into /data/`place`.
  void add_to(testing::MemoryEnv& env, std::string_view place) const {
    const std::string root = "/data/" + std::string(place) + (place.empty() ? "" : "/");
    for (const auto& [path, contents] : files) env.add_file(root + path, contents);
  }

  std::string_view layout;
  std::string_view folder;
  Files files;
  std::string why;
  std::string problems;
};

}  // namespace xtts::corpus
