// The arrows of the architecture: every #include "..." of ours against the table below. A sentence
// in a document does not hold layers apart; link lines do, and this does where headers alone are
// used.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Folder -> folders whose headers it may include, besides its own. `xtts` is include/xtts.
const std::map<std::string, std::set<std::string>>& arrows() {
  static const std::map<std::string, std::set<std::string>> table = {
      {"xtts", {}},
      {"base", {"xtts"}},
      {"formats", {"base", "xtts"}},
      {"recipe", {"formats", "base", "xtts"}},
      {"text", {"formats", "base", "xtts"}},
      {"decode", {"base", "xtts"}},
      {"decode_worker", {"decode", "base", "xtts"}},
      {"dsp", {"formats", "base", "xtts"}},
      {"corpus", {"formats", "base", "xtts"}},
      {"store", {"formats", "base", "xtts"}},
      {"reader", {"formats", "base", "xtts"}},
      {"query", {"reader", "formats", "base", "xtts"}},
      {"gpu", {"base", "xtts"}},
      {"loader", {"query", "reader", "gpu", "formats", "base", "xtts"}},
      {"capi", {"base", "xtts"}},
      {"python", {"xtts"}},
      {"api", {"loader", "query", "reader", "formats", "base", "xtts"}},
      {"report", {"base", "xtts"}},
      {"pipeline",
       {"corpus", "decode", "decode_worker", "dsp", "text", "store", "reader", "report", "formats",
        "base", "xtts"}},
      {"verify",
       {"pipeline", "corpus", "dsp", "text", "reader", "store", "formats", "base", "xtts"}},
      {"maintain",
       {"verify", "pipeline", "corpus", "decode", "decode_worker", "dsp", "text", "store", "reader",
        "report", "formats", "base", "xtts"}},
      {"frontend",
       {"verify", "pipeline", "recipe", "store", "reader", "report", "corpus", "dsp", "formats",
        "base", "xtts"}},
      {"builder",
       {"frontend", "maintain", "verify", "pipeline", "reader", "formats", "base", "xtts"}},
      {"cli",
       {"frontend", "corpus", "decode", "decode_worker", "dsp", "text", "store", "reader", "loader",
        "query", "report", "pipeline", "verify", "maintain", "recipe", "formats", "base", "xtts"}},
  };
  return table;
}

fs::path folder_path(const std::string& folder) {
  const fs::path root = XTTS_SOURCE_DIR;
  if (folder == "xtts") return root / "include/xtts";
  if (folder == "formats" || folder == "cli") return root / folder;
  return root / "src" / folder;
}

bool is_source(const fs::path& path) {
  return path.extension() == ".cpp" || path.extension() == ".hpp" || path.extension() == ".h";
}

std::vector<std::string> quoted_includes(const fs::path& path) {
  static const std::regex pattern("^\\s*#\\s*include\\s+\"([^\"]+)\"");
  std::ifstream file(path);
  std::vector<std::string> includes;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_search(line, match, pattern)) includes.push_back(match[1]);
  }
  return includes;
}

TEST(Architecture, EveryIncludeFollowsAnArrow) {
  std::size_t checked = 0;
  for (const auto& [folder, allowed] : arrows()) {
    for (const auto& entry : fs::recursive_directory_iterator(folder_path(folder))) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      for (const auto& include : quoted_includes(entry.path())) {
        const std::string target = include.substr(0, include.find('/'));
        EXPECT_TRUE(target == folder || allowed.contains(target))
            << entry.path() << " includes \"" << include << "\": " << folder << " may not use "
            << target;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 200U);
}

TEST(Architecture, EveryFolderOfSourcesIsInTheTable) {
  for (const auto& entry : fs::directory_iterator(fs::path(XTTS_SOURCE_DIR) / "src")) {
    if (entry.is_directory()) {
      EXPECT_TRUE(arrows().contains(entry.path().filename())) << entry.path();
    }
  }
}

TEST(Architecture, OnlyTheCommandLinePrints) {
  static const std::regex pattern("\\b(std::cout|std::cerr|printf\\s*\\(|std::exit|::exit\\s*\\()");
  for (const auto& [folder, allowed] : arrows()) {
    if (folder == "cli") continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder_path(folder))) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        line = line.substr(0, line.find("//"));
        EXPECT_FALSE(std::regex_search(line, pattern)) << entry.path() << ": " << line;
      }
    }
  }
}

}  // namespace
