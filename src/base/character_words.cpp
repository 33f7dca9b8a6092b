#include "base/character_words.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/formatted.hpp"
#include "base/utf8.hpp"

namespace xtts {
namespace {

struct Named {
  std::uint32_t code_point;
  std::string_view name;
};
// The invisible characters that texts have, as Unicode 15 names them.
constexpr auto kNamed = std::to_array<Named>({
    {0x09, "tab"},
    {0x0A, "line end"},
    {0x0D, "carriage return"},
    {0x20, "space"},
    {0xA0, "no-break space"},
    {0xAD, "soft hyphen"},
    {0x61C, "Arabic letter mark"},
    {0x2009, "thin space"},
    {0x200A, "hair space"},
    {0x200B, "zero width space"},
    {0x200C, "zero width non-joiner"},
    {0x200D, "zero width joiner"},
    {0x200E, "left-to-right mark"},
    {0x200F, "right-to-left mark"},
    {0x2028, "line separator"},
    {0x2029, "paragraph separator"},
    {0x202A, "left-to-right embedding"},
    {0x202B, "right-to-left embedding"},
    {0x202C, "pop directional formatting"},
    {0x202F, "narrow no-break space"},
    {0x2060, "word joiner"},
    {0x3000, "ideographic space"},
    {0xFEFF, "byte-order mark"},
});

}  // namespace

std::string code_point_name(std::uint32_t code_point) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "U+%04X", static_cast<unsigned>(code_point));
  return buffer.data();
}

bool is_invisible(std::uint32_t code_point) noexcept {
  return code_point <= 0x20 || (code_point >= 0x7F && code_point <= 0xA0) || code_point == 0xAD ||
         code_point == 0x61C || (code_point >= 0x2000 && code_point <= 0x200F) ||
         (code_point >= 0x2028 && code_point <= 0x202F) ||
         (code_point >= 0x205F && code_point <= 0x206F) || code_point == 0x3000 ||
         (code_point >= 0xFE00 && code_point <= 0xFE0F) || code_point == 0xFEFF;
}

std::string character_in_words(std::string_view character) {
  const std::uint32_t code_point = utf8_code_point(character);
  if (!is_invisible(code_point))
    return formatted("'{}' ({})", character, code_point_name(code_point));
  const auto named = std::ranges::find(kNamed, code_point, &Named::code_point);
  return code_point_name(code_point) +
         (named == kNamed.end() ? "" : formatted(" ({})", named->name));
}

ShownCharacters by_count(const std::map<std::string, std::uint64_t>& counts, std::size_t shown) {
  ShownCharacters characters;
  auto& listed = characters.listed;
  listed.assign(counts.begin(), counts.end());
  std::ranges::stable_sort(listed, std::ranges::greater(), &CountedCharacter::second);
  const auto is_visible = [](const CountedCharacter& one) {
    return !is_invisible(utf8_code_point(one.first));
  };
  const auto rest = listed.begin() + static_cast<std::ptrdiff_t>(std::min(shown, listed.size()));
  const auto end = std::remove_if(rest, listed.end(), is_visible);
  characters.left_out = static_cast<std::size_t>(listed.end() - end);
  listed.erase(end, listed.end());
  return characters;
}

}  // namespace xtts
