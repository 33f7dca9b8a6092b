#include "cli/arguments.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace xtts::cli {
namespace {

using Words = std::vector<std::string>;

const Words kCommands{"build", "verify", "info", "ls", "show"};

Result<Words> complete(const Words& words, const Words& existing = {}) {
  return complete_arguments(words, kCommands, [&](const std::string& path) {
    return std::find(existing.begin(), existing.end(), path) != existing.end();
  });
}

TEST(Arguments, TwoPathsMeanBuild) {
  EXPECT_EQ(*complete({"./data", "./cache"}), (Words{"build", "./data", "./cache"}));
  EXPECT_EQ(*complete({"data", "cache"}, {"data"}), (Words{"build", "data", "cache"}));
  EXPECT_EQ(*complete({"corpora.yaml", "cache", "-j", "3"}),
            (Words{"build", "corpora.yaml", "cache", "-j", "3"}));
}

TEST(Arguments, CommandsStayWhatTheyAre) {
  EXPECT_EQ(*complete({"info", "cache"}), (Words{"info", "cache"}));
  EXPECT_EQ(*complete({"--json", "info", "cache"}), (Words{"--json", "info", "cache"}));
  EXPECT_EQ(*complete({"--log-level", "debug", "info"}), (Words{"--log-level", "debug", "info"}));
  EXPECT_EQ(*complete({"info", "cache"}, {"info"}), (Words{"info", "cache"}));
}

TEST(Arguments, FlagsMayStandBeforeData) {
  EXPECT_EQ(*complete({"--json", "./data", "cache"}),
            (Words{"build", "--json", "./data", "cache"}));
  EXPECT_EQ(*complete({"--recipe", "hifigan", "data", "cache"}),
            (Words{"build", "--recipe", "hifigan", "data", "cache"}));
  EXPECT_EQ(*complete({"--log-level", "debug", "data", "cache"}, {"data"}),
            (Words{"build", "--log-level", "debug", "data", "cache"}));
}

TEST(Arguments, NoWordsNeedNoCommand) {
  EXPECT_EQ(*complete({}), Words{});
  EXPECT_EQ(*complete({"--help"}), Words{"--help"});
  EXPECT_EQ(*complete({"--version"}), Words{"--version"});
}

TEST(Arguments, AMistypedCommandGetsTheNearest) {
  const auto status = complete({"verfy", "cache"}, {"cache"}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "unknown command 'verfy', did you mean 'verify'?");
  EXPECT_EQ(complete({"--json", "inof"}).status().message(),
            "unknown command 'inof', did you mean 'info'?");
  EXPECT_EQ(complete({"help"}).status().message(),
            "unknown command 'help', did you mean '--help'?");
}

TEST(Arguments, AnUnknownWordIsNotTakenForData) {
  EXPECT_EQ(complete({"compact", "cache"}).status().message(),
            "unknown command 'compact' (and there is no folder of that name)");
}

TEST(Arguments, JsonIsSeenBeforeTheEndOfFlags) {
  EXPECT_TRUE(asks_for_json({"info", "--json"}));
  EXPECT_FALSE(asks_for_json({"info", "--", "--json"}));
}

}  // namespace
}  // namespace xtts::cli
