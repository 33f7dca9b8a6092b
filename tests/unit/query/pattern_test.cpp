#include "query/pattern.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace xtts::query {
namespace {

bool found(std::string_view pattern, std::string_view text) {
  const auto compiled = Pattern::compile(pattern);
  EXPECT_TRUE(compiled.ok()) << pattern << ": " << compiled.status().message();
  return compiled.ok() && compiled->found_in(text);
}

bool refused(std::string_view pattern) {
  const auto compiled = Pattern::compile(pattern);
  return !compiled.ok() && compiled.status().code() == StatusCode::kInvalidArgument;
}

TEST(Pattern, KnowsTheUsualClasses) {
  EXPECT_TRUE(found("^\\d+$", "0123456789"));
  EXPECT_FALSE(found("\\d", "none"));
  EXPECT_TRUE(found("^\\D+$", "none"));
  EXPECT_TRUE(found("\\bword\\b", "a word."));
  EXPECT_FALSE(found("\\bword\\b", "swords"));
  EXPECT_TRUE(found("^\\w+\\s\\w+$", "two words"));
  EXPECT_TRUE(found("a\\.b\\{", "a.b{"));
}

TEST(Pattern, CountsCharactersNotBytes) {
  EXPECT_TRUE(found("^....$", "سلام"));
  EXPECT_TRUE(found("^[ا-ی]+$", "سلام"));
  EXPECT_TRUE(found("^é$", "é"));
  EXPECT_FALSE(found("[ا-ی]", "latin"));
  EXPECT_TRUE(found("^[^ا-ی]+$", "latin"));
  EXPECT_TRUE(found("^[𐀀-𐀅x]+$", "𐀃x"));
  EXPECT_TRUE(found("^[Z-é]+$", "[\\^_`az{~é"));
  EXPECT_FALSE(found("^[Z-é]+$", "Y"));
}

TEST(Pattern, MatchesTextThatIsNoUtf8OrEmpty) {
  EXPECT_TRUE(found("b",
                    "a\xff"
                    "b"));
  EXPECT_TRUE(found("^$", ""));
  EXPECT_TRUE(found("a", std::string_view("\0a", 2)));
}

TEST(Pattern, BracketsMayHoldAnything) {
  EXPECT_TRUE(found("^[](){}*+\\]$", "\\"));
  EXPECT_TRUE(found("^[^]]$", "a"));
  EXPECT_TRUE(found("[[:upper:][:digit:]]", "x7"));
}

TEST(Pattern, RefusesWhatCouldHangOrIsProbablyAMistake) {
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("(a)\\1"));
  EXPECT_TRUE(refused("((a{20}){20}){20}"));
  EXPECT_TRUE(refused("a{256}"));
  EXPECT_TRUE(refused("a{99999999999999999999}"));
  EXPECT_TRUE(refused("a***"));
  EXPECT_TRUE(refused("\\q"));
  EXPECT_TRUE(refused("[a"));
  EXPECT_TRUE(refused("[[:alpha"));
  EXPECT_TRUE(refused("{"));
  EXPECT_TRUE(refused("a\\"));
  EXPECT_TRUE(refused("[一-龥]"));
  EXPECT_TRUE(refused("[ی-ا]"));
  EXPECT_TRUE(refused("[z-a]"));
  EXPECT_TRUE(refused("("));
  EXPECT_TRUE(refused(std::string(501, 'a')));
  EXPECT_TRUE(refused(std::string(30, '(') + "a" + std::string(30, ')')));
}

// With a backtracking matcher this takes longer than the universe has existed.
TEST(Pattern, DoesNotBacktrack) {
  EXPECT_FALSE(found("^(a|a)*(a|a)*(aa|a)*b$", std::string(20000, 'a')));
}

TEST(Pattern, IsSharedByThreads) {
  const auto pattern = Pattern::compile("[ا-ی]{3}\\d");
  ASSERT_TRUE(pattern.ok());
  std::vector<std::thread> threads;
  std::array<int, 4> counts{};
  for (int& count : counts) {
    threads.emplace_back([&pattern, &count] {
      for (int i = 0; i < 500; ++i) count += pattern->found_in("x سلام7") ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : counts) EXPECT_EQ(count, 500);
}

}  // namespace
}  // namespace xtts::query
