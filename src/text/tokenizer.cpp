#include "text/tokenizer.hpp"

#include <algorithm>

#include "base/character_words.hpp"
#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "formats/rules.hpp"
#include "formats/vocabulary.hpp"

namespace xtts::text {
namespace {

using formats::LongText;
using formats::Reason;
using formats::Rule;
using formats::TextConfig;
using formats::TokenKind;
using formats::UnknownCharacter;

// A message names at most this many characters; a text in another script would fill pages.
constexpr std::size_t kNamedCharactersMax = 5;

// Lists the first ones: "'ß' (U+00DF) 2 times, U+0009 (tab) 1 time, and 3 more".
Reason unknown_characters(const std::map<std::string, std::uint64_t>& unknown) {
  std::string examples;
  std::uint64_t times = 0;
  for (const auto& [character, count] : unknown) times += count;
  const ShownCharacters shown = by_count(unknown, shown_of(unknown.size(), kNamedCharactersMax));
  for (const auto& [character, count] : shown.listed) {
    examples += formatted("{}{} {}", examples.empty() ? "" : ", ", character_in_words(character),
                          counted(count, "time", "times"));
  }
  if (shown.left_out > 0) examples += formatted(", and {} more", shown.left_out);
  return {.rule = Rule::kUnknownCharacters,
          .numbers = {static_cast<double>(unknown.size()), static_cast<double>(times)},
          .detail = std::move(examples)};
}

void apply_length_policy(const TextConfig& config, Tokens& tokens) {
  if (tokens.values.size() <= config.max_tokens) return;
  if (config.too_long == LongText::kTruncate) {
    tokens.values.resize(config.max_tokens);
    tokens.truncated = true;
    return;
  }
  tokens.refusal = Reason{.rule = Rule::kTextTooLong,
                          .numbers = {static_cast<double>(tokens.values.size()),
                                      static_cast<double>(config.max_tokens)},
                          .detail = config.tokens == TokenKind::kCharacters ? "characters" : ""};
}

Tokens encode_bytes(std::string_view text) {
  Tokens tokens;
  tokens.values.resize(text.size());
  std::transform(text.begin(), text.end(), tokens.values.begin(), [](char byte) {
    return static_cast<std::int32_t>(static_cast<unsigned char>(byte)) + 1;
  });
  return tokens;
}

}  // namespace

Tokenizer::Tokenizer(TextConfig config) : config_(std::move(config)) {}

Result<Tokenizer> Tokenizer::create(const TextConfig& config) {
  if (const auto problems = config.validate(); !problems.empty()) {
    std::string message = "text." + problems.front();
    for (std::size_t i = 1; i < problems.size(); ++i) message += "\ntext." + problems[i];
    return Status(StatusCode::kInvalidArgument, message);
  }
  Tokenizer tokenizer(config);
  if (config.tokens == TokenKind::kCharacters) {
    XTTS_ASSIGN(const auto characters, formats::split_vocabulary(config.vocabulary));
    std::int32_t token = 0;
    for (const std::string_view character : characters)
      tokenizer.characters_.emplace(character, ++token);
  }
  return tokenizer;
}

Tokens Tokenizer::encode(std::string_view text) const {
  Tokens tokens;
  switch (config_.tokens) {
    case TokenKind::kNone:
      return tokens;
    case TokenKind::kBytes:
      tokens = encode_bytes(text);
      break;
    case TokenKind::kCharacters:
      tokens = encode_characters(text);
      break;
  }
  if (!tokens.refusal) apply_length_policy(config_, tokens);
  return tokens;
}

Tokens Tokenizer::encode_characters(std::string_view text) const {
  const auto unknown_token = static_cast<std::int32_t>(characters_.size()) + 1;
  Tokens tokens;
  std::string character;  // reused: a lookup by view would need a transparent hash
  for (std::size_t position = 0; position < text.size(); position += character.size()) {
    const std::size_t length = utf8_length_bytes(text.substr(position));
    if (length == 0) {
      tokens.refusal =
          Reason{.rule = Rule::kTextNotUtf8, .numbers = {static_cast<double>(position)}};
      return tokens;
    }
    character.assign(text.substr(position, length));
    if (const auto found = characters_.find(character); found != characters_.end()) {
      tokens.values.push_back(found->second);
      continue;
    }
    ++tokens.unknown[character];
    if (config_.unknown == UnknownCharacter::kUnknownToken) tokens.values.push_back(unknown_token);
  }
  if (config_.unknown == UnknownCharacter::kError && !tokens.unknown.empty())
    tokens.refusal = unknown_characters(tokens.unknown);
  return tokens;
}

std::uint32_t Tokenizer::token_count() const noexcept {
  switch (config_.tokens) {
    case TokenKind::kNone:
      return 0;
    case TokenKind::kBytes:
      return 257;
    case TokenKind::kCharacters: {
      const bool has_unknown = config_.unknown == UnknownCharacter::kUnknownToken;
      return static_cast<std::uint32_t>(characters_.size()) + (has_unknown ? 2 : 1);
    }
  }
  return 0;
}

}  // namespace xtts::text
