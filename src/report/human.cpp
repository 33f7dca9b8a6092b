#include "report/human.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/utf8.hpp"

namespace xtts::report {
namespace {

struct CodePointRange {
  std::uint32_t first;
  std::uint32_t last;
};

// Characters of no width and marks on the letter before them, in the scripts of speech corpora.
// Source: the Unicode 15 blocks. A mark missing here only costs alignment.
constexpr std::array<CodePointRange, 17> kNoWidth{{{0x0300, 0x036F},
                                                   {0x0483, 0x0489},
                                                   {0x0591, 0x05BD},
                                                   {0x0610, 0x061A},
                                                   {0x064B, 0x065F},
                                                   {0x0670, 0x0670},
                                                   {0x06D6, 0x06DC},
                                                   {0x0900, 0x0902},
                                                   {0x093C, 0x093C},
                                                   {0x0941, 0x0948},
                                                   {0x094D, 0x094D},
                                                   {0x0E31, 0x0E31},
                                                   {0x0E34, 0x0E3A},
                                                   {0x0E47, 0x0E4E},
                                                   {0x1AB0, 0x1AFF},
                                                   {0x200B, 0x200D},
                                                   {0xFE00, 0xFE0F}}};
constexpr std::array<CodePointRange, 8> kWide{{{0x1100, 0x115F},
                                               {0x2E80, 0x303E},
                                               {0x3041, 0xA4CF},
                                               {0xAC00, 0xD7A3},
                                               {0xF900, 0xFAFF},
                                               {0xFE30, 0xFE6F},
                                               {0xFF00, 0xFF60},
                                               {0x1F300, 0x3FFFD}}};

bool contains(std::span<const CodePointRange> ranges, std::uint32_t code_point) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const CodePointRange& range) {
    return range.first <= code_point && code_point <= range.last;
  });
}

std::size_t character_width(std::uint32_t code_point) {
  if (contains(kNoWidth, code_point)) return 0;
  return contains(kWide, code_point) ? 2 : 1;
}

// Returns the bytes of the first character. A broken byte counts as one character.
std::size_t step_bytes(std::string_view text) {
  return std::max<std::size_t>(utf8_length_bytes(text), 1);
}

std::size_t front_width(std::string_view text) {
  const std::size_t length = utf8_length_bytes(text);
  return length == 0 ? 1 : character_width(utf8_code_point(text.substr(0, length)));
}

bool steers_a_terminal(std::uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) ||
         (code_point >= 0x202A && code_point <= 0x202E) ||
         (code_point >= 0x2066 && code_point <= 0x2069) || code_point == 0x2028 ||
         code_point == 0x2029;
}

std::string escape_one(std::uint32_t code_point) {
  switch (code_point) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default: {
      std::array<char, 16> buffer{};
      std::snprintf(buffer.data(), buffer.size(), code_point < 0x100 ? "\\x%02x" : "\\u%04x",
                    static_cast<unsigned>(code_point));
      return buffer.data();
    }
  }
}

}  // namespace

std::string format_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, ",");
  return text;
}

std::string format_fixed(double value, int digit_count) {
  if (!std::isfinite(value)) return "-";
  // We use std::to_chars, because printf takes the decimal point from the user's locale.
  std::array<char, 400> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, digit_count);
  std::string text(buffer.data(), end.ptr);
  return text.find_first_not_of("-0.") == std::string::npos && text[0] == '-' ? text.substr(1)
                                                                              : text;
}

std::string format_short(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size >= 999.5 && size < 1e15) {
    std::string text(value < 0 ? "-" : "");
    text += format_count(static_cast<std::uint64_t>(std::llround(size)));
    return text;
  }
  if (size >= 99.95) return format_fixed(value, 0);
  if (size >= 9.995) return format_fixed(value, 1);
  if (size >= 0.9995 || size == 0.0) return format_fixed(value, size == 0.0 ? 0 : 2);
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::general, 3);
  return {buffer.data(), end.ptr};
}

std::string format_size(std::uint64_t size_bytes) {
  constexpr std::array<const char*, 6> kUnits{" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  if (size_bytes < 1024) return formatted("{} B", size_bytes);
  double value = static_cast<double>(size_bytes) / 1024.0;
  std::size_t unit = 0;
  // 1,023.96 MiB would read "1024 MiB", so it takes the next unit.
  while (value >= 1023.5 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  return format_fixed(value, value < 99.95 ? 1 : 0) + kUnits[unit];
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0.0) return "-";
  if (seconds < 0.9995) return format_fixed(seconds * 1e3, seconds < 0.00995 ? 1 : 0) + " ms";
  if (seconds < 59.95) return format_fixed(seconds, seconds < 9.995 ? 1 : 0) + " s";
  if (seconds > 1e11) return format_short(seconds / 31'556'952.0) + " years";
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  const auto pair = [](std::uint64_t large, const char* large_unit, std::uint64_t small,
                       const char* small_unit) {
    return format_count(large) + large_unit +
           (small == 0 ? std::string() : formatted(" {}{}", small, small_unit));
  };
  if (whole < 3600) return pair(whole / 60, " min", whole % 60, " s");
  const std::uint64_t minutes = (whole + 30) / 60;
  if (minutes < 24 * 60) return pair(minutes / 60, " h", minutes % 60, " min");
  const std::uint64_t hours = (minutes + 30) / 60;
  return pair(hours / 24, " d", hours % 24, " h");
}

std::string format_estimate(double seconds) {
  return seconds >= 0.0 && seconds < 0.9995 ? "under 1 s" : format_duration(seconds);
}

std::string format_period(double period) {
  const double rounded = std::round(period * 10.0) / 10.0;
  return format_fixed(rounded, rounded == std::round(rounded) ? 0 : 1);
}

std::string format_percent(double share) {
  const double percent = share * 100.0;
  const double size = std::abs(percent);
  const int digit_count = size == 0.0 || size >= 9.95 ? 0 : (size >= 0.995 ? 1 : 2);
  return format_fixed(percent, digit_count) + " %";
}

std::string format_share(std::uint64_t done, std::uint64_t total) {
  return format_percent(total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total));
}

std::string format_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string format_counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return counted(count, one, many);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (; !text.empty(); text.remove_prefix(step_bytes(text))) width += front_width(text);
  return width;
}

std::string shorten(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::size_t used = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t step = front_width(text.substr(end));
    if (used + step > width - 1) break;
    used += step;
    end += step_bytes(text.substr(end));
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string escape_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length_bytes(text);
    if (length == 0) {
      out += escape_one(static_cast<unsigned char>(text[0]));
    } else if (const std::uint32_t point = utf8_code_point(text.substr(0, length));
               steers_a_terminal(point)) {
      out += escape_one(point);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(step_bytes(text));
  }
  return out;
}

std::string escape_controls_in_lines(std::string_view message) {
  std::string out;
  for (auto end = message.find('\n'); end != std::string_view::npos; end = message.find('\n')) {
    out += escape_controls(message.substr(0, end)) + "\n";
    message.remove_prefix(end + 1);
  }
  return out + escape_controls(message);
}

}  // namespace xtts::report
