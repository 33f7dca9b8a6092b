// The arrows of the architecture: every #include "..." of ours against the table below. A sentence
// in a document does not hold layers apart; link lines do, and this does where headers alone are
// used.

#include <gtest/gtest.h>

#include <algorithm>
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
      {"audio", {"base", "xtts"}},
      {"decode_worker", {"audio", "base", "xtts"}},
      // FFmpeg, and the program that alone links it: nobody else may include this.
      {"decode", {"decode_worker", "audio", "base", "xtts"}},
      {"dsp", {"formats", "base", "xtts"}},
      {"corpus", {"formats", "base", "xtts"}},
      {"store", {"formats", "base", "xtts"}},
      {"reader", {"formats", "base", "xtts"}},
      {"query", {"formats", "base", "xtts"}},
      // NVIDIA's driver, opened at run time.
      {"cuda", {"base", "xtts"}},
      {"device", {"cuda", "base", "xtts"}},
      {"dsp_cuda", {"device", "cuda", "dsp", "formats", "base", "xtts"}},
      {"loader", {"query", "reader", "device", "formats", "base", "xtts"}},
      {"api/c", {"base", "xtts"}},
      {"python", {"xtts"}},
      {"api/reader", {"loader", "device", "cuda", "query", "reader", "formats", "base", "xtts"}},
      {"report", {"formats", "base", "xtts"}},
      {"records", {"audio", "corpus", "dsp", "formats", "base", "xtts"}},
      {"pipeline",
       {"records", "corpus", "audio", "dsp", "text", "store", "reader", "report", "formats", "base",
        "xtts"}},
      {"verify",
       {"pipeline", "records", "audio", "corpus", "dsp", "text", "reader", "report", "store",
        "formats", "base", "xtts"}},
      {"maintain",
       {"verify", "pipeline", "records", "corpus", "dsp", "store", "reader", "report", "formats",
        "base", "xtts"}},
      {"plan",
       {"pipeline", "records", "corpus", "audio", "dsp", "text", "store", "formats", "base",
        "xtts"}},
      {"probe",
       {"pipeline", "records", "audio", "corpus", "dsp", "report", "loader", "device", "cuda",
        "reader", "formats", "base", "xtts"}},
      {"request",
       {"dsp_cuda", "verify", "pipeline", "records", "audio", "recipe", "store", "reader", "report",
        "corpus", "dsp", "formats", "base", "xtts"}},
      {"api/builder",
       {"request", "audio", "decode_worker", "maintain", "verify", "pipeline", "records", "recipe",
        "reader", "report", "formats", "base", "xtts"}},
      {"cli",
       {"request", "corpus", "audio", "decode_worker", "dsp", "reader", "loader", "query", "report",
        "pipeline", "verify", "maintain", "plan", "probe", "records", "recipe", "formats", "base",
        "xtts"}},
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

// "base" of "base/env.hpp", "api/c" of "api/c/capi_options.hpp": the table's own name for it.
std::string folder_of(const std::string& path) {
  const std::size_t first = path.find('/');
  if (path.substr(0, first) != "api") return path.substr(0, first);
  return path.substr(0, path.find('/', first + 1));
}

TEST(Architecture, EveryIncludeFollowsAnArrow) {
  std::size_t checked = 0;
  for (const auto& [folder, allowed] : arrows()) {
    for (const auto& entry : fs::recursive_directory_iterator(folder_path(folder))) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      for (const auto& include : quoted_includes(entry.path())) {
        const std::string target = folder_of(include);
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
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename();
    const auto is_this = [&](const auto& row) {
      return row.first == name || row.first.starts_with(name + "/");
    };
    EXPECT_TRUE(std::ranges::any_of(arrows(), is_this)) << entry.path();
  }
}

// The rooms of the corpus, from the ground up: each may include those before it.
TEST(Architecture, NoRoomOfTheCorpusIncludesOneAbove) {
  const std::vector<std::string> rooms = {"corpus/files", "corpus/clips", "corpus/lists",
                                          "corpus/layouts", "corpus"};
  const auto level_of = [&](const std::string& folder) {
    return std::ranges::find(rooms, folder) - rooms.begin();
  };
  for (const auto& entry : fs::recursive_directory_iterator(folder_path("corpus"))) {
    if (!is_source(entry.path())) continue;
    const fs::path source = fs::relative(entry.path(), fs::path(XTTS_SOURCE_DIR) / "src");
    EXPECT_LT(level_of(source.parent_path()), std::ssize(rooms)) << source;
    for (const auto& include : quoted_includes(entry.path())) {
      if (folder_of(include) != "corpus") continue;
      EXPECT_LE(level_of(fs::path(include).parent_path()), level_of(source.parent_path()))
          << source << " includes \"" << include << "\"";
    }
  }
}

// The file that `include` of a file in `folder` names; empty if it is none of the project's.
fs::path included_file(const fs::path& folder, const std::string& include) {
  const fs::path root = XTTS_SOURCE_DIR;
  for (const fs::path& from : {folder, root, root / "src", root / "include"})
    if (fs::is_regular_file(from / include)) return fs::weakly_canonical(from / include);
  return {};
}

// The project's files that a file includes itself. Read once each.
const std::vector<fs::path>& included_files(const fs::path& from) {
  static std::map<fs::path, std::vector<fs::path>> known;
  const auto [place, is_new] = known.try_emplace(from);
  if (is_new) {
    for (const auto& include : quoted_includes(from)) {
      const fs::path to = included_file(from.parent_path(), include);
      if (!to.empty()) place->second.push_back(to);
    }
  }
  return place->second;
}

bool reaches(const fs::path& from, const fs::path& header, std::set<fs::path>& seen) {
  if (from == header) return true;
  return seen.insert(from).second && std::ranges::any_of(included_files(from), [&](const auto& to) {
           return reaches(to, header, seen);
         });
}

// Each of these files is compiled anew when a key is added to the features. A header that only
// passes a recipe on includes recipe_fwd.hpp or recipe.hpp.
TEST(Architecture, AFurtherKeyOfTheFeaturesCompilesFewFiles) {
  const fs::path root = fs::weakly_canonical(XTTS_SOURCE_DIR);
  std::size_t count = 0;
  std::string names;
  for (const char* folder :
       {"src", "cli", "formats", "tests/unit", "tests/golden", "tests/property"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      std::set<fs::path> seen;
      if (entry.path().extension() != ".cpp" ||
          !reaches(entry.path(), root / "formats/feature_config.hpp", seen))
        continue;
      ++count;
      names += "\n  " + fs::relative(entry.path(), root).string();
    }
  }
  EXPECT_LT(count, 80U) << names;
  EXPECT_GT(count, 20U) << names;
}

TEST(Architecture, OnlyProgramsPrint) {
  static const std::regex pattern("\\b(std::cout|std::cerr|printf\\s*\\(|std::exit|::exit\\s*\\()");
  for (const auto& [folder, allowed] : arrows()) {
    if (folder == "cli") continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder_path(folder))) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      if (entry.path().filename() == "main.cpp") continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        line = line.substr(0, line.find("//"));
        EXPECT_FALSE(std::regex_search(line, pattern)) << entry.path() << ": " << line;
      }
    }
  }
}

}  // namespace
