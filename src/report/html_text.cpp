#include "report/html_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "report/human.hpp"

namespace xtts::report {

std::string escape_html(std::string_view text) {
  std::string out;
  const std::string visible = escape_controls(text);
  out.reserve(visible.size());
  for (std::size_t i = 0; i < visible.size(); ++i) {
    // U+FFFE and U+FFFF are the only characters left that XML forbids.
    const std::string_view rest = std::string_view(visible).substr(i, 3);
    if (rest == "\xef\xbf\xbe" || rest == "\xef\xbf\xbf") {
      out += rest == "\xef\xbf\xbe" ? "\\ufffe" : "\\uffff";
      i += 2;
      continue;
    }
    switch (visible[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += visible[i];
    }
  }
  return out;
}

std::string format_any(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size == 0.0) return "0";
  if (size < 1e9 && size >= 1e-3) return format_short(value);
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::scientific, 1);
  return std::string(digits.data(), end.ptr);
}

std::string html_element(std::string_view tag, std::string_view text, std::string_view css_class) {
  std::string out = "<" + std::string(tag);
  if (!css_class.empty()) out += " class=\"" + std::string(css_class) + "\"";
  return out + ">" + escape_html(text) + "</" + std::string(tag) + ">";
}

}  // namespace xtts::report
