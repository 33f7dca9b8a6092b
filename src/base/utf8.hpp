// Decodes UTF-8, one code point at a time. Overlong forms, surrogates and values above U+10FFFF
// are invalid, by the standard (Unicode 15, table 3-7). Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace xtts {

namespace detail {

struct Utf8Lead {
  std::size_t length_bytes;  // 0: no character begins with this byte
  unsigned char second_min;  // the second byte alone tells overlong forms and surrogates
  unsigned char second_max;
};

[[nodiscard]] constexpr Utf8Lead utf8_lead(unsigned char byte) noexcept {
  if (byte < 0x80) return {1, 0, 0};
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace detail

// Length of the first character of `text`; 0 where `text` is empty or begins with an invalid
// sequence.
[[nodiscard]] constexpr std::size_t utf8_length_bytes(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const detail::Utf8Lead lead = detail::utf8_lead(static_cast<unsigned char>(text[0]));
  if (lead.length_bytes == 0 || text.size() < lead.length_bytes) return 0;
  for (std::size_t i = 1; i < lead.length_bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char low = i == 1 ? lead.second_min : 0x80;
    const unsigned char high = i == 1 ? lead.second_max : 0xBF;
    if (byte < low || byte > high) return 0;
  }
  return lead.length_bytes;
}

// The code point of one valid character (as utf8_length_bytes measured it).
[[nodiscard]] constexpr std::uint32_t utf8_code_point(std::string_view character) noexcept {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  std::uint32_t value = first & (0xFFU >> (character.size() + 1));
  for (std::size_t i = 1; i < character.size(); ++i) {
    value = (value << 6) | (static_cast<unsigned char>(character[i]) & 0x3FU);
  }
  return value;
}

// Offset of the first byte that is not UTF-8; text.size() if all are valid.
[[nodiscard]] constexpr std::size_t utf8_valid_bytes(std::string_view text) noexcept {
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t length = utf8_length_bytes(text.substr(position));
    if (length == 0) return position;
    position += length;
  }
  return position;
}

[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
  return utf8_valid_bytes(text) == text.size();
}

}  // namespace xtts
