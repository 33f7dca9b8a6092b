#include "base/character_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(CharacterWords, ShowWhatCanBeSeenAndNameTheRest) {
  EXPECT_EQ(character_in_words("\u00DF"), "'\u00DF' (U+00DF)");
  EXPECT_EQ(character_in_words("\u064A"), "'\u064A' (U+064A)");
  EXPECT_EQ(character_in_words("\u200C"), "U+200C (zero width non-joiner)");
  EXPECT_EQ(character_in_words("\t"), "U+0009 (tab)");
  EXPECT_EQ(character_in_words("\u2066"), "U+2066");
  EXPECT_EQ(character_in_words("\U0001F600"), "'\U0001F600' (U+1F600)");
}

// A ZWNJ that stood 77 times once hid in "and 9 more".
TEST(CharacterWords, TheMostFrequentComeFirstAndTheInvisibleAlways) {
  const std::map<std::string, std::uint64_t> counts = {{"a", 5}, {"b", 9},      {"c", 5},
                                                       {"d", 1}, {"\u200C", 2}, {"\u00A0", 1}};
  const ShownCharacters shown = by_count(counts, 3);
  EXPECT_THAT(shown.listed, ElementsAre(Pair("b", 9U), Pair("a", 5U), Pair("c", 5U),
                                        Pair("\u200C", 2U), Pair("\u00A0", 1U)));
  EXPECT_EQ(shown.left_out, 1U);
  EXPECT_EQ(by_count(counts, 6).left_out, 0U);
}

}  // namespace
}  // namespace xtts
