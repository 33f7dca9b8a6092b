// Tokenizer: text -> at most max_tokens int32 tokens, by bytes or by the characters of a vocabulary. 0 is padding.
// Bytes: token = byte + 1. Characters: token = position in the vocabulary + 1; unknown ones by policy.
// Immutable, share freely.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/recipe.hpp"
#include "xtts/status.hpp"

namespace xtts::text {

struct Tokens {
  std::vector<std::int32_t> values;
  bool truncated = false;
  std::map<std::string, std::uint64_t> unknown;  // character -> times seen
};

class Tokenizer {
 public:
  [[nodiscard]] static Result<Tokenizer> create(const formats::TextConfig& config);
  // kBadInput: dropped by policy (too long, unknown character), the message says which and what would keep the clip.
  [[nodiscard]] Result<Tokens> encode(std::string_view text) const;
  [[nodiscard]] std::uint32_t token_count() const noexcept;  // of distinct tokens, padding included

 private:
  explicit Tokenizer(formats::TextConfig config);
  formats::TextConfig config_;
  std::unordered_map<std::string, std::int32_t> characters_;
};

}  // namespace xtts::text
