#include "corpus/files/names.hpp"

#include <algorithm>
#include <array>

#include "base/character_words.hpp"
#include "base/formatted.hpp"
#include "base/nfc.hpp"
#include "base/utf8.hpp"

namespace xtts::corpus {
namespace {

// Base letters of U+00C0..U+017F (Latin-1 Supplement from À on, Latin Extended-A), four blocks of
// sixteen a line. Letters without a base of one ASCII letter (ligatures, eth, thorn, the two signs)
// are '*': left as they are.
constexpr std::string_view kLatinBases =
    "aaaaaa*ceeeeiiii*nooooo*ouuuuy**aaaaaa*ceeeeiiii*nooooo*ouuuuy*y"
    "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii**jjkk*lllllll"
    "lllnnnnnn***oooooo**rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
constexpr std::uint32_t kLatinFirst = 0xC0;
static_assert(kLatinBases.size() == 0x180 - kLatinFirst);

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

bool is_control(std::uint32_t code_point) noexcept {
  return code_point < 0x20 || (code_point >= 0x7F && code_point <= 0x9F);
}

// Marks on letters, the stretching of Arabic letters, and what nobody sees.
bool is_left_out(std::uint32_t code_point) noexcept {
  return (code_point >= 0x300 && code_point <= 0x36F) || code_point == 0x640 ||
         (code_point >= 0x64B && code_point <= 0x655) || code_point == 0x670 ||
         (code_point >= 0x200B && code_point <= 0x200F) || code_point == 0xAD ||
         code_point == 0xFEFF;
}

// One spelling, in UTF-8, of Arabic letters that keyboards confuse or that Unicode composes with
// madda or hamza; empty for all other letters.
std::string_view arabic_base(std::uint32_t code_point) noexcept {
  switch (code_point) {
    case 0x622:
    case 0x623:
    case 0x625:
      return "\u0627";
    case 0x624:
      return "\u0648";
    case 0x626:
    case 0x649:
    case 0x64A:
      return "\u06CC";
    case 0x643:
    case 0x6AA:
      return "\u06A9";
    case 0x6BE:
    case 0x6C0:
    case 0x6C1:
    case 0x6D5:
      return "\u0647";
    default:
      return {};
  }
}

std::optional<char> ascii_digit(std::uint32_t code_point) noexcept {
  for (const std::uint32_t zero : {0x660U, 0x6F0U}) {
    if (code_point >= zero && code_point < zero + 10)
      return static_cast<char>('0' + (code_point - zero));
  }
  return std::nullopt;
}

void append_folded(std::string& out, std::string_view character) {
  const std::uint32_t code_point = utf8_code_point(character);
  if (is_left_out(code_point)) return;
  if (const auto digit = ascii_digit(code_point)) {
    out += *digit;
    return;
  }
  if (code_point >= kLatinFirst && code_point < kLatinFirst + kLatinBases.size()) {
    const char base = kLatinBases[code_point - kLatinFirst];
    if (base != '*') {
      out += base;
      return;
    }
  }
  const std::string_view base = arabic_base(code_point);
  out += base.empty() ? character : base;
}

std::optional<std::string> fault_of_text(std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
  if (plain) return std::nullopt;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length_bytes(text.substr(i));
    if (length == 0) return "is not UTF-8";
    if (is_control(utf8_code_point(text.substr(i, length)))) return "holds a control character";
    i += length;
  }
  return std::nullopt;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
}

}  // namespace

std::optional<std::string> fault_of_id(std::string_view id) {
  if (id.empty()) return "the id is empty";
  if (id.size() > kIdBytesMax) {
    return formatted("the id has {}; at most {} allowed", counted(id.size(), "byte", "bytes"),
                     counted(kIdBytesMax, "byte is", "bytes are"));
  }
  if (const auto fault = fault_of_text(id)) return "the id " + *fault;
  return std::nullopt;
}

std::optional<std::string> fault_of_label(std::string_view label) {
  if (label.size() <= kLabelBytesMax) return fault_of_text(label);
  return formatted("has {}; at most {} are allowed", counted(label.size(), "byte", "bytes"),
                   kLabelBytesMax);
}

std::optional<std::string> fault_of_listed_path(std::string_view path) {
  const bool has_drive = path.size() >= 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/');
  if (path.starts_with('/') || has_drive) {
    return "the id is an absolute path; name audio relative to the audio folder";
  }
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (path.substr(0, slash) == "..") return "the id climbs out of its folder with '..'";
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return std::nullopt;
}

std::string printable(std::string_view name) {
  if (!fault_of_text(name)) return std::string(name);
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t length = utf8_length_bytes(name.substr(i));
    const std::string_view character = name.substr(i, std::max<std::size_t>(length, 1));
    const bool plain = length > 0 && !is_control(utf8_code_point(character)) && character != "%";
    if (plain) {
      out += character;
    } else {
      append_escaped(out, character);
    }
    i += character.size();
  }
  return out;
}

std::string folded(std::string_view any_form) {
  const std::string name = nfc(any_form);
  std::string out;
  out.reserve(name.size());
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t length = utf8_length_bytes(std::string_view(name).substr(i));
    if (length > 1) {
      append_folded(out, std::string_view(name).substr(i, length));
    } else {
      out += lower(name[i]);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

namespace {

// The first character, a byte where it is not UTF-8; empty at the end.
std::string_view first_character(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(utf8_length_bytes(text), text.empty() ? 0 : 1));
}

std::string in_words(std::string_view character) {
  return is_utf8(character) ? character_in_words(character) : printable(character);
}

}  // namespace

std::string first_difference(std::string_view listed, std::string_view found) {
  for (;;) {
    const std::string_view left = first_character(listed);
    const std::string_view right = first_character(found);
    if (left.empty() && right.empty()) return {};
    if (left == right) {
      listed.remove_prefix(left.size());
      found.remove_prefix(right.size());
      continue;
    }
    // One of the two may have a character more.
    if (!left.empty() && first_character(listed.substr(left.size())) == right)
      return formatted("the list has {} more", in_words(left));
    if (!right.empty() && first_character(found.substr(right.size())) == left)
      return formatted("the file has {} more", in_words(right));
    return formatted("the list has {} where the file has {}", in_words(left), in_words(right));
  }
}

bool equals_ignoring_case(std::string_view left, std::string_view right) noexcept {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_number(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view folder_of(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

}  // namespace xtts::corpus
