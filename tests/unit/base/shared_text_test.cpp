#include "base/shared_text.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace xtts {
namespace {

TEST(SharedText, IsTheTextThatItWasMadeOf) {
  const std::string with_nul("a\0b", 3);
  for (const std::string& text :
       {std::string(), std::string("a"), with_nul, std::string(1000, 'x')}) {
    const SharedText shared = text;
    EXPECT_EQ(shared.view(), text);
    EXPECT_EQ(shared.size(), text.size());
    EXPECT_EQ(shared.empty(), text.empty());
    EXPECT_EQ(std::string(shared), text);
  }
}

TEST(SharedText, ComparesAsItsTextDoes) {
  const SharedText a = "a";
  const SharedText b = std::string_view("b");
  EXPECT_EQ(a, "a");
  EXPECT_EQ(std::string("a"), a);
  EXPECT_EQ(a, SharedText(std::string("a")));
  EXPECT_NE(a, b);
  EXPECT_LT(a, b);
  EXPECT_LT(SharedText(), a);
  EXPECT_EQ("x" + a + "y", "xay");
}

TEST(SharedText, CopiesShareTheirLettersUntilOneIsSetAnew) {
  SharedText first = "a text of some length";
  SharedText second = first;
  EXPECT_EQ(first.view().data(), second.view().data());
  first = "another";
  EXPECT_EQ(second, "a text of some length");
  second = std::move(first);
  EXPECT_EQ(second, "another");
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): it says what a move leaves
  SharedText& itself = second;
  second = itself;
  EXPECT_EQ(second, "another");
}

TEST(SharedText, TakesEightBytes) {
  EXPECT_EQ(sizeof(SharedText), sizeof(void*));
}

// A sanitizer sees what goes wrong here.
TEST(SharedText, CopiesMayDieInAnyThread) {
  const SharedText text = "held by all";
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = text] {
      for (int turn = 0; turn < 1000; ++turn) {
        const SharedText another = copy;
        ASSERT_EQ(another.size(), 11U);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(text, "held by all");
}

}  // namespace
}  // namespace xtts
