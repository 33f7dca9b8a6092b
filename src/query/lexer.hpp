// Splits an expression into tokens. Private to this folder. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::query {

enum class TokenKind { kWord, kNumber, kText, kOperator, kOpen, kClose, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::size_t offset_bytes = 0;
  std::string text;  // of a word, an operator, or what the quotes enclose
  double number = 0.0;
};

// The last token is kEnd.
[[nodiscard]] Result<std::vector<Token>> split_tokens(std::string_view expression);

// The failure's text: `message`, the expression, and a caret under `offset_bytes`, one line each.
[[nodiscard]] Status error_at(std::string_view expression, std::size_t offset_bytes,
                              const std::string& message);

}  // namespace xtts::query
