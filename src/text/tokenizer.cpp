#include "text/tokenizer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/counted.hpp"
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

std::string code_point_name(std::string_view character) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "U+%04X",
                static_cast<unsigned>(utf8_code_point(character)));
  return buffer.data();
}

// Lists the first ones: "'ß' (U+00DF) 2 times, (U+0009) 1 time, and 3 more".
Reason unknown_characters(const std::map<std::string, std::uint64_t>& unknown) {
  std::string examples;
  std::size_t named = 0;
  std::uint64_t times = 0;
  const std::size_t shown = shown_of(unknown.size(), kNamedCharactersMax);
  for (const auto& [character, count] : unknown) {
    times += count;
    if (named++ >= shown) continue;
    const bool visible = static_cast<unsigned char>(character[0]) > 0x20 && character != "\x7F";
    examples += (examples.empty() ? "" : ", ") +
                (visible ? "'" + character + "' " : std::string()) + "(" +
                code_point_name(character) + ") " + std::to_string(count) +
                (count == 1 ? " time" : " times");
  }
  if (unknown.size() > shown)
    examples += ", and " + std::to_string(unknown.size() - shown) + " more";
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
                                      static_cast<double>(config.max_tokens)}};
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
