// Comments and notes name files of ours ("formats/block.hpp"). A name that leads nowhere sends a
// reader on a search: each is looked up here.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

// Names begin in one of these folders, or in the citing file's own.
bool is_there(const std::string& cited, const fs::path& from) {
  static const std::array<const char*, 5> kBeginnings{"", "src", "include", "tests", "tests/unit"};
  const fs::path root = XTTS_SOURCE_DIR;
  for (const char* const beginning : kBeginnings)
    if (fs::exists(root / beginning / cited)) return true;
  return fs::exists(from.parent_path() / cited);
}

// The part of a line that is for people: all of a note, the comment of a source.
std::string words_of(const fs::path& path, const std::string& line) {
  if (path.extension() == ".md") return line;
  const std::size_t comment = line.find("//");
  return comment == std::string::npos ? "" : line.substr(comment);
}

TEST(Citations, LeadToFilesThatAreThere) {
  static const std::regex pattern("\\b([a-z_0-9]+/)+[a-z_0-9-]+[.](hpp|cpp|h|md)\\b");
  static const std::set<std::string> endings{".hpp", ".cpp", ".h", ".md"};
  std::size_t cited_count = 0;
  for (const char* const folder : {"src", "formats", "include", "cli", "tests", "configs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(XTTS_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file() || !endings.contains(entry.path().extension())) continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        const std::string words = words_of(entry.path(), line);
        if (words.find(".h") == std::string::npos && words.find(".cpp") == std::string::npos &&
            words.find(".md") == std::string::npos)
          continue;  // most lines: a regular expression is slow
        for (std::sregex_iterator found(words.begin(), words.end(), pattern), end; found != end;
             ++found) {
          EXPECT_TRUE(is_there(found->str(), entry.path()))
              << entry.path() << " cites " << found->str();
          ++cited_count;
        }
      }
    }
  }
  EXPECT_GT(cited_count, 50U);
}

}  // namespace
