#include "query/lexer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/formatted.hpp"
#include "base/utf8.hpp"

namespace xtts::query {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::size_t read_word(std::string_view text) {
  return static_cast<std::size_t>(
      std::find_if(text.begin(), text.end(), [](char c) { return !is_letter(c) && !is_digit(c); }) -
      text.begin());
}

std::size_t read_operator(std::string_view text) {
  for (const std::string_view known : {"==", "!=", "<=", ">=", "<", ">", "~"}) {
    if (text.substr(0, known.size()) == known) return known.size();
  }
  return 0;
}

// Returns the length in bytes including both quotes; 0: the closing quote is missing.
std::size_t read_quoted(std::string_view text, std::string& content) {
  const char quote = text[0];
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == quote) return i + 1;
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == quote) ++i;
    content += text[i];
  }
  return 0;
}

std::string describe(std::string_view rest) {
  if (rest[0] == '=') return "'=' is written '=='";
  if (rest.substr(0, 2) == "&&") return "'&&' is written 'and'";
  if (rest.substr(0, 2) == "||") return "'||' is written 'or'";
  if (rest[0] == '!') return "'!' is written 'not'";
  const std::size_t length = utf8_length_bytes(rest);
  const bool visible = length > 1 || (length == 1 && rest[0] > ' ' && rest[0] < 0x7F);
  return visible ? formatted("'{}' has no meaning here", rest.substr(0, length))
                 : "a character that cannot be shown has no meaning here";
}

}  // namespace

Result<std::vector<Token>> split_tokens(std::string_view expression) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  const auto take = [&](TokenKind kind, std::size_t length) {
    tokens.push_back({kind, at, std::string(expression.substr(at, length)), 0.0});
    at += length;
  };
  while (at < expression.size()) {
    const std::string_view rest = expression.substr(at);
    const char c = rest[0];
    const bool signed_number =
        (c == '-' || c == '.') && rest.size() > 1 && (is_digit(rest[1]) || rest[1] == '.');
    if (is_space(c)) {
      ++at;
    } else if (c == '(' || c == ')') {
      take(c == '(' ? TokenKind::kOpen : TokenKind::kClose, 1);
    } else if (c == '"' || c == '\'') {
      Token token{TokenKind::kText, at, {}, 0.0};
      const std::size_t length = read_quoted(rest, token.text);
      if (length == 0) return error_at(expression, at, "this quote is not closed");
      tokens.push_back(std::move(token));
      at += length;
    } else if (is_digit(c) || signed_number) {
      double number = 0.0;
      const auto end = std::from_chars(rest.data(), rest.data() + rest.size(), number);
      const auto length = static_cast<std::size_t>(end.ptr - rest.data());
      if (end.ec != std::errc() || !std::isfinite(number)) {
        return error_at(expression, at, "this is not a number");
      }
      if (length < rest.size() && (is_letter(rest[length]) || rest[length] == '.')) {
        return error_at(expression, at + length,
                        "a number ends here: leave out the unit; xtts-precompute ls --help gives "
                        "the unit of each field");
      }
      take(TokenKind::kNumber, length);
      tokens.back().number = number;
    } else if (const std::size_t word = read_word(rest); word > 0) {
      take(TokenKind::kWord, word);
    } else if (const std::size_t sign = read_operator(rest); sign > 0) {
      take(TokenKind::kOperator, sign);
    } else {
      return error_at(expression, at, describe(rest));
    }
  }
  tokens.push_back({TokenKind::kEnd, expression.size(), {}, 0.0});
  return tokens;
}

Status error_at(std::string_view expression, std::size_t offset_bytes, const std::string& message) {
  // The caret's column counts characters, which is right except for wide ones. Characters that
  // would break the line become spaces.
  std::string shown;
  std::size_t column = 0;
  for (std::size_t at = 0; at < expression.size();) {
    const std::size_t length = utf8_length_bytes(expression.substr(at));
    const bool plain =
        length > 1 || (length == 1 && expression[at] >= ' ' && expression[at] != 0x7F);
    shown += plain ? std::string(expression.substr(at, length)) : std::string(" ");
    if (at < offset_bytes) ++column;
    at += std::max<std::size_t>(length, 1);
  }
  return {StatusCode::kInvalidArgument, "column " + std::to_string(column + 1) + ": " + message +
                                            "\n  " + shown + "\n  " + std::string(column, ' ') +
                                            "^"};
}

}  // namespace xtts::query
