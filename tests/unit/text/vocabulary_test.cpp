#include "formats/vocabulary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::formats {
namespace {

std::string problem(std::string_view vocabulary) {
  return split_vocabulary(vocabulary).status().message();
}

TEST(Vocabulary, IsTheSameInBothSpellings) {
  const auto line = split_vocabulary("a ß中😀");
  const auto lines = split_vocabulary("a\n \nß\n中\n😀\n");
  ASSERT_TRUE(line.ok() && lines.ok());
  EXPECT_THAT(*line, testing::ElementsAre("a", " ", "ß", "中", "😀"));
  EXPECT_EQ(*line, *lines);
}

TEST(Vocabulary, NamesWhatIsWrong) {
  EXPECT_EQ(problem("aba"), "'a' is given twice");
  EXPECT_EQ(problem("a\xFF"), "character 2 is not UTF-8");
  EXPECT_EQ(problem("a\tb"), "character 2 is a control character");
  EXPECT_EQ(problem("a\nbc\nd"), "line 2 holds more than one character");
  EXPECT_EQ(problem("a\n\nb"), "line 2 is empty");
}

TEST(Utf8, KnowsTheFirstAndLastCharacterOfEachLength) {
  for (const auto& [character, code_point] :
       std::initializer_list<std::pair<std::string_view, std::uint32_t>>{
           {"\x7F", 0x7F},
           {"\xC2\x80", 0x80},
           {"\xDF\xBF", 0x7FF},
           {"\xE0\xA0\x80", 0x800},
           {"\xEF\xBF\xBF", 0xFFFF},
           {"\xF0\x90\x80\x80", 0x10000},
           {"\xF4\x8F\xBF\xBF", 0x10FFFF}}) {
    EXPECT_EQ(utf8_length_bytes(character), character.size());
    EXPECT_EQ(utf8_code_point(character), code_point);
  }
}

}  // namespace
}  // namespace xtts::formats
