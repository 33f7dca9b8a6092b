#include "cli/completion.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace xtts::cli {
namespace {

class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    CLI::App* show = app_.add_subcommand("show", "One record: it's [all] here");
    show->add_option("--png", text_, "A picture");
    show->add_option("-l,--level", text_, "How much")
        ->check(CLI::IsMember(std::vector<std::string>{"quick", "full"}));
    show->add_flag("--hidden", flag_, "")->group("");
    show->add_option("CACHE", text_);
  }
  CLI::App app_;
  std::string text_;
  bool flag_ = false;
};

TEST_F(CompletionTest, DescribesWhatTheAppHas) {
  const auto commands = describe_commands(app_);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].name, "show");
  ASSERT_EQ(commands[0].options.size(), 3U);  // --help too, no positional, nothing hidden
  EXPECT_EQ(commands[0].options[1].names, (std::vector<std::string>{"--png"}));
  EXPECT_TRUE(commands[0].options[1].takes_value);
  EXPECT_TRUE(commands[0].options[1].choices.empty());
  EXPECT_EQ(commands[0].options[2].choices, (std::vector<std::string>{"quick", "full"}));
  EXPECT_FALSE(commands[0].options[0].takes_value);
}

TEST_F(CompletionTest, EveryScriptKnowsCommandsFlagsAndChoices) {
  const auto commands = describe_commands(app_);
  for (const std::string& script :
       {bash_completion(commands), zsh_completion(commands), fish_completion(commands)}) {
    for (const char* word : {"show", "png", "level", "quick full"}) {
      EXPECT_NE(script.find(word), std::string::npos) << word << "\n" << script;
    }
    EXPECT_EQ(script.find("hidden"), std::string::npos);
  }
}

TEST_F(CompletionTest, DescriptionsAreQuoted) {
  const auto commands = describe_commands(app_);
  EXPECT_NE(zsh_completion(commands).find("'show:One record\\: it'\\''s \\[all\\] here'"),
            std::string::npos);
  EXPECT_NE(fish_completion(commands).find("-d 'One record: it'\\''s [all] here'"),
            std::string::npos);
}

}  // namespace
}  // namespace xtts::cli
