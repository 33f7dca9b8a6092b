#include "text/tokenizer.hpp"
#include "formats/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::text {
namespace {

using formats::LongText;
using formats::Reason;
using formats::Rule;
using formats::TextConfig;
using formats::TokenKind;
using formats::UnknownCharacter;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Tokenizer make(const TextConfig& config) {
  auto tokenizer = Tokenizer::create(config);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return std::move(tokenizer).value();
}

TextConfig characters(const std::string& vocabulary,
                      UnknownCharacter unknown = UnknownCharacter::kDrop) {
  TextConfig config;
  config.tokens = TokenKind::kCharacters;
  config.vocabulary = vocabulary;
  config.unknown = unknown;
  return config;
}

TEST(Tokenizer, MakesEveryByteItsValuePlusOne) {
  const auto tokens = make({}).encode(std::string_view("A\0\xFF", 3));
  ASSERT_FALSE(tokens.refusal);
  EXPECT_THAT(tokens.values, ElementsAre(66, 1, 256));
  EXPECT_EQ(make({}).token_count(), 257U);
}

TEST(Tokenizer, NeverWritesThePaddingToken) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  TextConfig config;
  config.max_tokens = 256;
  const auto tokens = make(config).encode(all);
  ASSERT_FALSE(tokens.refusal);
  EXPECT_THAT(tokens.values, testing::Each(testing::AllOf(testing::Ge(1), testing::Le(256))));
}

TEST(Tokenizer, NumbersCharactersByTheirPlaceInTheVocabulary) {
  const auto tokens = make(characters("ab سلام")).encode("سلام ab");
  ASSERT_FALSE(tokens.refusal);
  EXPECT_THAT(tokens.values, ElementsAre(4, 5, 6, 7, 3, 1, 2));
  EXPECT_EQ(make(characters("ab سلام")).token_count(), 8U);
}

TEST(Tokenizer, ReadsAVocabularyOfOneCharacterALine) {
  const auto tokens = make(characters("a\n \nß\n")).encode("ß a");
  ASSERT_FALSE(tokens.refusal);
  EXPECT_THAT(tokens.values, ElementsAre(3, 2, 1));
}

TEST(Tokenizer, LeavesUnknownCharactersOutAndCountsThem) {
  const auto tokens = make(characters("ab")).encode("aßbßé");
  ASSERT_FALSE(tokens.refusal);
  EXPECT_THAT(tokens.values, ElementsAre(1, 2));
  EXPECT_THAT(tokens.unknown, ElementsAre(Pair("ß", 2), Pair("é", 1)));
}

TEST(Tokenizer, KeepsThePlaceOfUnknownCharacters) {
  const Tokenizer tokenizer = make(characters("ab", UnknownCharacter::kUnknownToken));
  const auto tokens = tokenizer.encode("aßb");
  ASSERT_FALSE(tokens.refusal);
  EXPECT_THAT(tokens.values, ElementsAre(1, 3, 2));
  EXPECT_EQ(tokenizer.token_count(), 4U);
}

TEST(Tokenizer, RefusesUnknownCharactersByName) {
  const auto tokens = make(characters("ab", UnknownCharacter::kError)).encode("aßßb\t");
  EXPECT_EQ(tokens.refusal, (Reason{.rule = Rule::kUnknownCharacters,
                                    .numbers = {2, 3},
                                    .detail = "'ß' (U+00DF) 2 times, U+0009 (tab) 1 time"}));
}

TEST(Tokenizer, NamesAtMostFiveUnknownCharacters) {
  const auto tokens = make(characters("x", UnknownCharacter::kError)).encode("abcdefg");
  ASSERT_TRUE(tokens.refusal);
  EXPECT_THAT(tokens.refusal->detail, testing::EndsWith("'e' (U+0065) 1 time, and 2 more"));
}

TEST(Tokenizer, RefusesATextThatIsTooLongWithItsLength) {
  const auto tokens = make({}).encode(std::string(218, 'a'));
  EXPECT_EQ(tokens.refusal, (Reason{.rule = Rule::kTextTooLong, .numbers = {218, 200}}));
}

TEST(Tokenizer, CountsCharactersWhereTokensAreSuch) {
  TextConfig config = characters("\u06CC");
  config.max_tokens = 2;
  EXPECT_FALSE(make(config).encode("\u06CC\u06CC").refusal) << "four bytes, two characters";
  EXPECT_EQ(make(config).encode("\u06CC\u06CC\u06CC").refusal,
            (Reason{.rule = Rule::kTextTooLong, .numbers = {3, 2}, .detail = "characters"}));
}

TEST(Tokenizer, KeepsATextOfExactlyTheMaximum) {
  const auto tokens = make({}).encode(std::string(200, 'a'));
  ASSERT_FALSE(tokens.refusal);
  EXPECT_EQ(tokens.values.size(), 200U);
  EXPECT_FALSE(tokens.truncated);
}

TEST(Tokenizer, CutsALongTextWhenAsked) {
  TextConfig config;
  config.max_tokens = 3;
  config.too_long = LongText::kTruncate;
  const auto tokens = make(config).encode("abcd");
  ASSERT_FALSE(tokens.refusal);
  EXPECT_THAT(tokens.values, ElementsAre(98, 99, 100));
  EXPECT_TRUE(tokens.truncated);
}

TEST(Tokenizer, CountsTokensAfterUnknownCharactersAreDropped) {
  TextConfig config = characters("a");
  config.max_tokens = 2;
  EXPECT_FALSE(make(config).encode("aßa").refusal);
}

TEST(Tokenizer, RefusesInvalidUtf8AsCharactersWithThePlace) {
  for (const std::string_view bad :
       {"a\xFF", "a\xC0\x80", "a\xED\xA0\x80", "a\xE2\x82", "a\xF4\x90\x80\x80"}) {
    const auto tokens = make(characters("a")).encode(bad);
    EXPECT_EQ(tokens.refusal, (Reason{.rule = Rule::kTextNotUtf8, .numbers = {1}}));
  }
}

TEST(Tokenizer, MakesNoTokensWhereNoneAreWanted) {
  TextConfig config;
  config.tokens = TokenKind::kNone;
  const auto tokens = make(config).encode(std::string(1000, 'a'));
  ASSERT_FALSE(tokens.refusal);
  EXPECT_THAT(tokens.values, IsEmpty());
  EXPECT_EQ(make(config).token_count(), 0U);
}

TEST(Tokenizer, RefusesAConfigThatDoesNotValidate) {
  const auto tokenizer = Tokenizer::create(characters(""));
  EXPECT_EQ(tokenizer.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(tokenizer.status().message(),
            "text.vocabulary, tokens: tokens=characters needs a vocabulary or a vocabulary_file");
}

}  // namespace
}  // namespace xtts::text
