#include "draw/theme.hpp"

#include <glib.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

namespace xtts::draw {
namespace {

struct RoleColours {
  Rgb light;
  Rgb dark;
};

// Each light colour is used for nothing else: the style sheet finds a role by it.
constexpr std::array<RoleColours, 4> kRoles{{{{255, 255, 255}, {24, 24, 27}},
                                             {{34, 34, 40}, {232, 232, 236}},
                                             {{96, 96, 107}, {168, 168, 178}},
                                             {{222, 222, 227}, {58, 58, 64}}}};

constexpr std::array<Rgb, 11> kData{{{0, 114, 178},
                                     {213, 94, 0},
                                     {0, 158, 115},
                                     {230, 159, 0},
                                     {86, 180, 233},
                                     {204, 121, 167},
                                     {160, 160, 165},
                                     {214, 200, 40},
                                     {127, 95, 168},
                                     {140, 109, 49},
                                     {59, 110, 90}}};

// Cairo writes colours so: "rgb(13.333333%,13.333333%,15.686275%)", from version 1.18 on with
// blanks behind the commas.
std::string as_cairo_writes(Rgb colour, const char* comma) {
  const auto share = [](std::uint8_t byte) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%f", byte / 255.0 * 100.0);
    std::string number(text.data());
    while (number.ends_with('0')) number.pop_back();
    if (number.ends_with('.')) number.pop_back();
    return number + "%";
  };
  return "rgb(" + share(colour.red) + comma + share(colour.green) + comma + share(colour.blue) +
         ")";
}

std::string as_css(Rgb colour) {
  return "rgb(" + std::to_string(colour.red) + "," + std::to_string(colour.green) + "," +
         std::to_string(colour.blue) + ")";
}

// "[fill="rgb(...)"],[style*="fill:rgb(...)"]{fill:rgb(...) !important}" for each role and use.
std::string dark_rules() {
  std::string rules;
  for (const RoleColours& role : kRoles) {
    for (const char* const use : {"fill", "stroke"}) {
      std::string selectors;
      for (const char* const comma : {",", ", "}) {
        const std::string written = as_cairo_writes(role.light, comma);
        selectors += (selectors.empty() ? "[" : ",[") + std::string(use) + "=\"" + written +
                     "\"],[style*=\"" + use + ":" + written + "\"]";
      }
      rules += selectors + "{" + use + ":" + as_css(role.dark) + " !important}\n";
    }
  }
  return rules;
}

std::string escaped(const std::string& text) {
  char* const valid = g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()));
  std::string checked(valid);
  g_free(valid);
  // XML knows neither U+FFFE nor U+FFFF.
  for (const char* const noncharacter : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = 0; (at = checked.find(noncharacter, at)) != std::string::npos;)
      checked.erase(at, 3);
  }
  std::string out;
  for (const char c : checked) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (static_cast<unsigned char>(c) >= ' ') {
      out += c;  // XML knows no control characters
    }
  }
  return out;
}

}  // namespace

Rgb colour_of(Role role) {
  return kRoles.at(static_cast<std::size_t>(role)).light;
}

Rgb colour_of(figure::Colour colour) {
  if (colour == figure::Colour::kInk) return colour_of(Role::kInk);
  return kData.at(static_cast<std::size_t>(colour) - 1);
}

std::string with_dark_colours(std::string svg, const std::string& title,
                              const std::string& description) {
  const std::size_t begin = svg.find("<svg");
  const std::size_t end = begin == std::string::npos ? begin : svg.find('>', begin);
  if (end == std::string::npos) return svg;
  std::string added;
  if (!title.empty()) added += "\n<title>" + escaped(title) + "</title>";
  if (!description.empty()) added += "\n<desc>" + escaped(description) + "</desc>";
  added += "\n<style>@media (prefers-color-scheme: dark){\n" + dark_rules() + "}</style>";
  return svg.insert(end + 1, added);
}

}  // namespace xtts::draw
