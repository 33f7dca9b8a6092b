// The shipped tables of text.normalize, by known answers and by properties.
#include "text/normalizer.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/nfc.hpp"
#include "recipe/text_tables.hpp"

namespace xtts::text {
namespace {

using Names = std::vector<std::string>;
const Names kAll = {"nfc", "arabic_letters", "digits", "zwnj", "diacritics"};

TextNormalizer normalizer_of(const Names& names) {
  std::vector<formats::TextTable> tables;
  for (const std::string& name : names) {
    auto table = recipe::text_table(name);
    EXPECT_TRUE(table) << name;
    if (table) tables.push_back(std::move(*table));
  }
  auto made = TextNormalizer::create(tables);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return std::move(*made);
}

std::string normalized(const Names& names, std::string_view text) {
  return normalizer_of(names).apply(text);
}

TEST(Normalizer, ArabicLettersBecomePersianOnes) {
  const Names letters{"arabic_letters"};
  EXPECT_EQ(normalized(letters, "\u0643\u062A\u0627\u0628 \u0639\u0631\u0628\u064A"),
            "\u06A9\u062A\u0627\u0628 \u0639\u0631\u0628\u06CC");
  EXPECT_EQ(normalized(letters, "\u0649\u06AA\u06C1\u06BE\u06D5"),
            "\u06CC\u06A9\u0647\u0647\u0647");
  EXPECT_EQ(normalized(letters, "\uFEE1\uFEFB"), "\u0645\u0644\u0627") << "presentation forms";
  EXPECT_EQ(normalized(letters, "\u0629\u0626\u0624\u0623\u06C0"), "\u0629\u0626\u0624\u0623\u06C0")
      << "letters of Persian names stay";
}

TEST(Normalizer, DigitsBecomeThoseOfAscii) {
  EXPECT_EQ(normalized({"digits"}, "\u06F1\u06F2\u06F3\u06F9\u06F0 \u0661\u0669"), "12390 19");
  EXPECT_EQ(normalized({"digits"}, "\u06F3\u066B\u06F1\u06F4\u066A \u06F1\u066C\u06F0\u06F0\u06F0"),
            "3.14% 1000");
}

TEST(Normalizer, ANonJoinerStaysOnceBetweenLetters) {
  const Names zwnj{"zwnj"};
  EXPECT_EQ(normalized(zwnj, "\u0645\u06CC\u200C\u0631\u0648\u0645"),
            "\u0645\u06CC\u200C\u0631\u0648\u0645");
  EXPECT_EQ(normalized(zwnj, "a\u200C\u200C\u200C\u200Cb"), "a\u200Cb");
  EXPECT_EQ(normalized(zwnj, "\u200C\u200Ca \u200C b\u200C c\u200C"), "a  b c");
  EXPECT_EQ(normalized(zwnj, "\uFEFFa\u200F\u200C\u200Eb\u00AD"), "a\u200Cb");
}

TEST(Normalizer, DiacriticsAndStretchingGo) {
  EXPECT_EQ(normalized({"diacritics"}, "\u0633\u064E\u0644\u0640\u0640\u0627\u0645\u064C"),
            "\u0633\u0644\u0627\u0645");
  EXPECT_EQ(normalized({"diacritics"}, "\u0622\u0654"), "\u0622\u0654") << "hamza is a letter's";
}

TEST(Normalizer, TablesAreAppliedInTheirOrder) {
  EXPECT_EQ(normalized(kAll, "\u064A\u0654"), "\u0626") << "composed first, so it is no yeh";
  EXPECT_EQ(normalized({"arabic_letters", "nfc"}, "\u064A\u0654"), "\u06CC\u0654");
  EXPECT_EQ(normalized({}, "\u064A"), "\u064A");
}

TEST(Normalizer, TextThatIsNotUtf8StaysAsItIs) {
  EXPECT_EQ(normalized(kAll, "\u064A\xFF"), "\u064A\xFF");
}

TEST(Normalizer, ASecondTimeChangesNothing) {
  std::vector<TextNormalizer> each;
  for (const std::string& name : kAll) each.push_back(normalizer_of({name}));
  each.push_back(normalizer_of(kAll));
  const auto seed = std::random_device()();
  std::mt19937 random(seed);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) {
      constexpr std::uint32_t kRanges[][2] = {
          {0x600, 0x100}, {0x200B, 5}, {0x20, 1}, {0xFB50, 0x2B0}, {0xFE70, 0x90}};
      const auto& [first, count] = kRanges[random() % 5];
      append_utf8(first + static_cast<std::uint32_t>(random() % count), text);
    }
    for (std::size_t i = 0; i < each.size(); ++i) {
      const std::string once = each[i].apply(text);
      ASSERT_EQ(each[i].apply(once), once) << "table " << i << ", seed " << seed;
    }
  }
}

TEST(Normalizer, ATableThatCannotBeReadIsRefusedByName) {
  for (const std::string rows : {"0660", ">0030", "06G0>0030", "110000>0030", "0660>0030,,"}) {
    const std::vector<formats::TextTable> tables{{"digits", rows}};
    const auto made = TextNormalizer::create(tables);
    ASSERT_FALSE(made.ok()) << rows;
    EXPECT_NE(made.status().message().find("text.normalize: the table digits"), std::string::npos);
  }
}

TEST(Normalizer, RowsThatChaseEachOtherEnd) {
  const std::vector<formats::TextTable> tables{{"loop", "0061+0062>0062+0061,0062+0061>0061+0062"}};
  const auto made = TextNormalizer::create(tables);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->apply("abababab").size(), 8U);
}

TEST(TextTables, HoldNoComments) {
  EXPECT_EQ(recipe::text_table("nfc")->rows, "Unicode 15.0.0");
  EXPECT_EQ(recipe::text_table("zwnj")->rows,
            "00AD>,200D>,200E>,200F>,FEFF>,200C+200C>200C,200C+0020>0020,0020+200C>0020,"
            "^+200C>^,200C+$>$");
  EXPECT_EQ(recipe::text_table("none"), std::nullopt);
  EXPECT_EQ(recipe::text_table_names(), "nfc | arabic_letters | diacritics | digits | zwnj");
}

}  // namespace
}  // namespace xtts::text
