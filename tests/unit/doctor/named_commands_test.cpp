#include "doctor/named_commands.hpp"

#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

TEST(NamedCommands, HaveTheNamesThatWereGiven) {
  const CommandNames names{
      .data = "my data", .cache = "./cache", .recipe_words = "--config config.yaml"};
  EXPECT_EQ(
      with_names("Build a cache with `xtts-precompute DATA CACHE`, and train.", names),
      "Build a cache with `xtts-precompute 'my data' ./cache --config config.yaml`, and train.");
  EXPECT_EQ(with_names("`xtts-precompute build DATA CACHE --dry-run` lists DATA.", names),
            "`xtts-precompute build 'my data' ./cache --config config.yaml --dry-run` lists DATA.");
  EXPECT_EQ(with_names("`xtts-precompute DATA CACHE --recipe hifigan`", names),
            "`xtts-precompute 'my data' ./cache --recipe hifigan`");
  EXPECT_EQ(with_names("measure: `xtts-precompute bench CACHE`.", names),
            "measure: `xtts-precompute bench ./cache`.");
}

TEST(NamedCommands, StayAsTheyAreWithoutNames) {
  for (const std::string text :
       {"Build it with `xtts-precompute DATA CACHE`.", "`DATA CACHE`", "an odd ` DATA", ""})
    EXPECT_EQ(with_names(text, {}), text);
  EXPECT_EQ(with_names("`DATA` is a word", {.data = "d"}), "`DATA` is a word");
}

}  // namespace
}  // namespace xtts::doctor
