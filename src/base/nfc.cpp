#include "base/nfc.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <vector>

#include "base/utf8.hpp"

namespace xtts {
namespace {

struct Class {
  std::uint32_t first;
  std::uint32_t last;
  std::uint8_t value;
};
struct Decomposition {
  std::uint32_t code_point;
  std::uint32_t first;
  std::uint32_t second;
  bool composes;
};

#include "base/nfc_table.inc"

// Hangul is composed by arithmetic (Unicode 15, section 3.12).
constexpr std::uint32_t kHangul = 0xAC00;
constexpr std::uint32_t kLead = 0x1100;
constexpr std::uint32_t kVowel = 0x1161;
constexpr std::uint32_t kTrail = 0x11A7;  // one before the first
constexpr std::uint32_t kLeads = 19;
constexpr std::uint32_t kVowels = 21;
constexpr std::uint32_t kTrails = 28;

std::uint8_t class_of(std::uint32_t code_point) {
  const auto place = std::ranges::lower_bound(kClasses, code_point, {}, &Class::last);
  return place != kClasses.end() && place->first <= code_point ? place->value : 0;
}

void decompose(std::uint32_t code_point, std::vector<std::uint32_t>& out) {
  if (code_point >= kHangul && code_point < kHangul + kLeads * kVowels * kTrails) {
    const std::uint32_t index = code_point - kHangul;
    out.push_back(kLead + index / (kVowels * kTrails));
    out.push_back(kVowel + index / kTrails % kVowels);
    if (index % kTrails != 0) out.push_back(kTrail + index % kTrails);
    return;
  }
  const auto place =
      std::ranges::lower_bound(kDecompositions, code_point, {}, &Decomposition::code_point);
  if (place == kDecompositions.end() || place->code_point != code_point) {
    out.push_back(code_point);
    return;
  }
  decompose(place->first, out);
  if (place->second != 0) out.push_back(place->second);
}

const std::vector<Decomposition>& compositions() {
  static const std::vector<Decomposition> kCompositions = [] {
    std::vector<Decomposition> pairs;
    std::ranges::copy_if(kDecompositions, std::back_inserter(pairs),
                         [](const Decomposition& one) { return one.composes && one.second != 0; });
    std::ranges::sort(pairs, {}, [](const auto& one) { return std::pair(one.first, one.second); });
    return pairs;
  }();
  return kCompositions;
}

// 0: the two are not composed.
std::uint32_t composed(std::uint32_t first, std::uint32_t second) {
  if (first >= kLead && first < kLead + kLeads && second >= kVowel && second < kVowel + kVowels)
    return kHangul + ((first - kLead) * kVowels + (second - kVowel)) * kTrails;
  const bool is_open = first >= kHangul && first < kHangul + kLeads * kVowels * kTrails &&
                       (first - kHangul) % kTrails == 0;
  if (is_open && second > kTrail && second < kTrail + kTrails) return first + second - kTrail;
  const auto key = [](const Decomposition& one) { return std::pair(one.first, one.second); };
  const auto place = std::ranges::lower_bound(compositions(), std::pair(first, second), {}, key);
  const bool is_there = place != compositions().end() && key(*place) == std::pair(first, second);
  return is_there ? place->code_point : 0;
}

// Marks behind a letter go by their class; marks of one class keep their order.
void order_marks(std::vector<std::uint32_t>& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    if (class_of(text[begin]) == 0) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < text.size() && class_of(text[end]) != 0) ++end;
    std::stable_sort(text.begin() + static_cast<std::ptrdiff_t>(begin),
                     text.begin() + static_cast<std::ptrdiff_t>(end),
                     [](std::uint32_t a, std::uint32_t b) { return class_of(a) < class_of(b); });
    begin = end;
  }
}

void compose(std::vector<std::uint32_t>& text) {
  constexpr std::size_t kNone = SIZE_MAX;
  std::size_t starter = kNone;
  std::size_t kept = 0;
  for (const std::uint32_t code_point : text) {
    const std::uint8_t value = class_of(code_point);
    if (starter != kNone) {
      const std::uint8_t before = kept - starter > 1 ? class_of(text[kept - 1]) : 0;
      // A mark is blocked by a mark of its class or a higher one, a letter by any mark.
      const bool is_adjacent = kept - starter == 1;
      const std::uint32_t both =
          is_adjacent || (before != 0 && before < value) ? composed(text[starter], code_point) : 0;
      if (both != 0) {
        text[starter] = both;
        continue;
      }
    }
    if (value == 0) starter = kept;
    text[kept++] = code_point;
  }
  text.resize(kept);
}

// Only text from U+0300 on can change: no letter below has a decomposition of form C.
bool may_change(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0xCC; });
}

void append_nfc(std::vector<std::uint32_t>& code_points, std::string& out) {
  order_marks(code_points);
  compose(code_points);
  for (const std::uint32_t code_point : code_points) append_utf8(code_point, out);
  code_points.clear();
}

}  // namespace

std::string_view unicode_version() noexcept {
  return kVersion;
}

void append_utf8(std::uint32_t code_point, std::string& out) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code_point < 0x80) return add(code_point);
  if (code_point < 0x800) {
    add(0xC0 | code_point >> 6U);
  } else if (code_point < 0x10000) {
    add(0xE0 | code_point >> 12U);
    add(0x80 | (code_point >> 6U & 0x3FU));
  } else {
    add(0xF0 | code_point >> 18U);
    add(0x80 | (code_point >> 12U & 0x3FU));
    add(0x80 | (code_point >> 6U & 0x3FU));
  }
  add(0x80 | (code_point & 0x3FU));
}

std::string nfc(std::string_view text) {
  if (!may_change(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  std::vector<std::uint32_t> code_points;
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t length = utf8_length_bytes(text.substr(position));
    if (length == 0) {
      append_nfc(code_points, out);
      out += text[position++];
      continue;
    }
    decompose(utf8_code_point(text.substr(position, length)), code_points);
    position += length;
  }
  append_nfc(code_points, out);
  return out;
}

}  // namespace xtts
