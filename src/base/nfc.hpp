// Unicode's normalization form C: letters with accents are one code point where there is one. Text
// from macOS has them in two (form D). Bytes that are not UTF-8 pass unchanged. Pure functions.
//
// The tables are made from the Unicode Character Database by make_nfc_table.py. A later version of
// Unicode never changes the form of a character that this one has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xtts {

[[nodiscard]] std::string nfc(std::string_view text);
[[nodiscard]] std::string_view unicode_version() noexcept;  // "15.0.0"

void append_utf8(std::uint32_t code_point, std::string& out);

}  // namespace xtts
