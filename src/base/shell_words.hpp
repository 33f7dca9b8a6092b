// Quotes a text as one word of a shell's command line, for commands that users will paste. Pure
// functions.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace xtts {

namespace detail {

[[nodiscard]] inline bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

// Uses $'...', which bash, zsh and ksh know, because a terminal would act on control characters.
[[nodiscard]] inline std::string shell_escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string escaped = "$'";
  for (const char c : text) {
    if (is_control(c)) {
      const auto byte = static_cast<unsigned char>(c);
      escaped += "\\x";
      escaped += kDigits[byte >> 4U];
      escaped += kDigits[byte & 0xFU];
    } else {
      if (c == '\'' || c == '\\') escaped += '\\';
      escaped += c;
    }
  }
  return escaped + "'";
}

}  // namespace detail

[[nodiscard]] inline std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  const bool is_plain = !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos;
  if (is_plain && !text.starts_with('-')) return std::string(text);
  // A name that begins with '-' would be read as an option.
  const std::string begin = text.starts_with('-') ? "./" : "";
  if (std::ranges::any_of(text, detail::is_control)) return begin + detail::shell_escaped(text);
  std::string quoted = begin + "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// A command within a sentence, in quotes. A command that holds quotes itself stands between
// backticks: no shell would read quotes within quotes as they were meant.
[[nodiscard]] inline std::string command_in_text(std::string_view command) {
  const char quote = command.find('\'') == std::string_view::npos ? '\'' : '`';
  return quote + std::string(command) + quote;
}

}  // namespace xtts
