// Tokenizer: text -> at most max_tokens int32 tokens, by bytes or by the characters of a
// vocabulary. 0 is padding. Bytes: token = byte + 1, of any bytes. Characters: token = position in
// the vocabulary + 1, by code points of valid UTF-8; unknown ones by policy. A text cut to
// max_tokens may end inside a character where tokens are bytes. Immutable, share freely.
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
  // Dropped by policy (too long, unknown characters), or not UTF-8 where characters are wanted:
  // nothing above counts.
  std::optional<formats::Reason> refusal = {};
};

class Tokenizer {
 public:
  [[nodiscard]] static Result<Tokenizer> create(const formats::TextConfig& config);
  [[nodiscard]] Tokens encode(std::string_view text) const;
  [[nodiscard]] std::uint32_t token_count()
      const noexcept;  // of distinct tokens, padding included; 0 without tokens

 private:
  explicit Tokenizer(formats::TextConfig config);
  [[nodiscard]] Tokens encode_characters(std::string_view text) const;
  formats::TextConfig config_;
  std::unordered_map<std::string, std::int32_t> characters_;
};

}  // namespace xtts::text
