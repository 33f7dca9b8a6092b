// Texts and numbers in HTML and SVG. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xtts::report {

// Returns a text that an HTML or XML parser reads back as `text`, within an element and within a
// quoted attribute. Controls, broken UTF-8, characters that change the direction of writing and
// those that XML forbids become visible text ("\x1b").
[[nodiscard]] std::string escape_html(std::string_view text);

// A number for people: three digits, of any size: "12.3", "1.2e+300"; "-" where not finite.
[[nodiscard]] std::string format_any(double value);

// "<TAG CLASS>escaped text</TAG>"; an empty `css_class` leaves the class out.
[[nodiscard]] std::string html_element(std::string_view tag, std::string_view text,
                                       std::string_view css_class = {});

}  // namespace xtts::report
