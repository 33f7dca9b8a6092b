// Tokenizer turns a text into at most max_tokens int32 tokens; 0 is padding. By bytes: token =
// byte + 1, for any bytes. By characters: token = position in the vocabulary + 1, for code points
// of valid UTF-8; a policy decides on unknown ones. With byte tokens, a text that is cut to
// max_tokens may end inside a character. Immutable, share freely.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/reason.hpp"
#include "formats/text_config.hpp"
#include "xtts/status.hpp"

namespace xtts::text {

struct Tokens {
  std::vector<std::int32_t> values;
  bool truncated = false;
  std::map<std::string, std::uint64_t> unknown;  // character -> times seen
  // Set: the text is dropped by policy (too long, unknown characters), or is not UTF-8 where
  // characters are wanted. Then the members above do not count.
  std::optional<formats::Reason> refusal = {};
};

class Tokenizer {
 public:
  [[nodiscard]] static Result<Tokenizer> create(const formats::TextConfig& config);
  [[nodiscard]] Tokens encode(std::string_view text) const;
  // The number of distinct tokens, padding included; 0 without tokens.
  [[nodiscard]] std::uint32_t token_count() const noexcept;

 private:
  explicit Tokenizer(formats::TextConfig config);
  [[nodiscard]] Tokens encode_characters(std::string_view text) const;
  formats::TextConfig config_;
  std::unordered_map<std::string, std::int32_t> characters_;
};

}  // namespace xtts::text
