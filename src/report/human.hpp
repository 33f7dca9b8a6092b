// Numbers and texts as people read them. Pure functions; no locale enters, so that output is the
// same everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xtts::report {

[[nodiscard]] std::string format_count(std::uint64_t count);      // "1,234"
[[nodiscard]] std::string format_size(std::uint64_t size_bytes);  // "12.3 GiB", "999 B"
[[nodiscard]] std::string format_duration(double seconds);  // "3 h 12 min", "4.2 s", "1 d 3 h"
[[nodiscard]] std::string format_fixed(double value,
                                       int digit_count);  // "3.14"; "-" where not finite
// Three digits that say something: "0.0123", "1.23", "12.3", "1,234".
[[nodiscard]] std::string format_short(double value);
[[nodiscard]] std::string format_percent(double share);  // of 1: "0.42 %", "12 %"
// Of work that is done; nothing to do is all of it.
[[nodiscard]] std::string format_share(std::uint64_t done, std::uint64_t total);

// "1 clip", "1,234 clips".
[[nodiscard]] std::string format_list(const std::vector<std::string>& items);  // "a, b"
[[nodiscard]] std::string format_counted(std::uint64_t count, std::string_view one,
                                         std::string_view many);

// Columns that `text` takes on a terminal: combining marks take none, East Asian wide characters
// two.
[[nodiscard]] std::size_t display_width(std::string_view text);
// At most `width` columns; what is cut ends in "…". Never splits a character, nor parts a letter
// from its marks.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t width);
// Control characters and broken UTF-8 as visible text ("\n", "\x1b"): nothing that a corpus says
// may steer a terminal, which includes the characters that turn the direction of writing.
[[nodiscard]] std::string escape_controls(std::string_view text);

}  // namespace xtts::report
