#include "verify/checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace xtts::verify {
namespace {

std::string text_of(const std::string& path) {
  const std::ifstream file(XTTS_SOURCE_DIR "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Checks, StandInTheOrderOfTheEnumerationWithNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const CheckInfo& info : all_checks()) {
    EXPECT_EQ(name_of(info.check), info.name);
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Check::kRecomputed) + 1);
}

TEST(Checks, AreInTheTableForPeopleAndInTheSchema) {
  const std::string readme = text_of("src/verify/README.md");
  const std::string schema = text_of("tests/cli/schemas/verify.json");
  for (const CheckInfo& info : all_checks()) {
    EXPECT_THAT(readme, ::testing::HasSubstr("| `" + std::string(info.name) + "` | "));
    EXPECT_THAT(schema, ::testing::HasSubstr('"' + std::string(info.name) + '"'));
  }
}

}  // namespace
}  // namespace xtts::verify
