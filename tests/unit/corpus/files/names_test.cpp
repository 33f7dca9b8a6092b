#include "corpus/files/names.hpp"

#include <gtest/gtest.h>

namespace xtts::corpus {
namespace {

TEST(Names, IdsAreUtf8WithoutControlCharacters) {
  EXPECT_FALSE(fault_of_id("LJ001-0001"));
  EXPECT_FALSE(fault_of_id("with space, %s and |"));
  EXPECT_FALSE(fault_of_id("سلام دنیا"));
  EXPECT_FALSE(fault_of_id("می\u200Cروم"));
  EXPECT_TRUE(fault_of_id(""));
  EXPECT_TRUE(fault_of_id("new\nline"));
  EXPECT_TRUE(fault_of_id("\x7F"));
  EXPECT_TRUE(fault_of_id("\u0085")) << "controls of Latin-1 count too";
  EXPECT_TRUE(fault_of_id("caf\xE9"));
  EXPECT_TRUE(fault_of_id(std::string_view("a\0b", 3)));
  EXPECT_FALSE(fault_of_id(std::string(kIdBytesMax, 'a')));
  EXPECT_TRUE(fault_of_id(std::string(kIdBytesMax + 1, 'a')));
}

TEST(Names, ListedPathsStayBelowTheirFolder) {
  EXPECT_FALSE(fault_of_listed_path("speaker/clip.wav"));
  EXPECT_FALSE(fault_of_listed_path("a..b/..c"));
  EXPECT_TRUE(fault_of_listed_path("/etc/passwd"));
  EXPECT_TRUE(fault_of_listed_path("C:\\clips\\a.wav"));
  EXPECT_TRUE(fault_of_listed_path(".."));
  EXPECT_TRUE(fault_of_listed_path("a/../../b"));
  EXPECT_TRUE(fault_of_listed_path("a/.."));
}

TEST(Names, ShowsOddBytesInHexadecimal) {
  EXPECT_EQ(printable("100% café"), "100% café");
  EXPECT_EQ(printable("a\nb%"), "a%0Ab%25");
  EXPECT_EQ(printable("caf\xE9"), "caf%E9");
}

TEST(Names, FoldsCaseAccentsAndTheirEncoding) {
  EXPECT_EQ(folded("Case"), folded("cASE"));
  EXPECT_EQ(folded("caf\u00E9"), folded("cafe\u0301"));
  EXPECT_EQ(folded("\u017Ceton"), folded("Z\u0307ETON"));
  EXPECT_EQ(folded("\u0622\u0628"), folded("\u0627\u0653\u0628"));
  EXPECT_NE(folded("\u062F"), folded("\u0630"));
  EXPECT_EQ(folded("\u4E2D"), "\u4E2D");
  EXPECT_EQ(folded("\u00C9T\u00C9"), folded("e\u0301te\u0301"));
  EXPECT_NE(folded("stra\u00DFe"), folded("strasse")) << "spellings are no look-alikes";
}

TEST(Names, FoldsArabicLettersDigitsAndWhatNobodySees) {
  EXPECT_EQ(folded("\u064A\u0643\u0649"), folded("\u06CC\u06A9\u06CC"));
  EXPECT_EQ(folded("\u06F1\u06F2\u0663"), "123");
  EXPECT_EQ(folded("\u0645\u06CC\u200C\u0631\u0648\u0645"),
            folded("\u0645\u064A\u0631\u0648\u0645"));
  EXPECT_EQ(folded("\u0633\u064E\u0644\u0640\u0627\u0645"), folded("\u0633\u0644\u0627\u0645"));
  EXPECT_EQ(folded("\u1EC7"), folded("e\u0302\u0323")) << "in any form, of any script";
}

TEST(Names, SayTheFirstDifference) {
  EXPECT_EQ(first_difference("ab", "ab"), "");
  EXPECT_EQ(first_difference("a\u064A", "a\u06CC"),
            "the list has '\u064A' (U+064A) where the file has '\u06CC' (U+06CC)");
  EXPECT_EQ(first_difference("a\u200Cb", "ab"), "the list has U+200C (zero width non-joiner) more");
  EXPECT_EQ(first_difference("ab", "a\u200Cb"), "the file has U+200C (zero width non-joiner) more");
  EXPECT_EQ(first_difference("ab\u0301", "ab"), "the list has '\u0301' (U+0301) more");
  EXPECT_EQ(first_difference("a\xFF", "ab"), "the list has %FF where the file has 'b' (U+0062)");
}

TEST(Names, CountsInWords) {
  EXPECT_EQ(counted(0, "clip", "clips"), "0 clips");
  EXPECT_EQ(counted(1, "clip", "clips"), "1 clip");
  EXPECT_EQ(counted(999, "clip", "clips"), "999 clips");
  EXPECT_EQ(counted(13100, "clip", "clips"), "13,100 clips");
  EXPECT_EQ(counted(1234567, "clip", "clips"), "1,234,567 clips");
  EXPECT_EQ(shown_of(3, 3), 3U);
  EXPECT_EQ(shown_of(4, 3), 4U);  // "and 1 more" would take as much room
  EXPECT_EQ(shown_of(5, 3), 3U);
}

}  // namespace
}  // namespace xtts::corpus
