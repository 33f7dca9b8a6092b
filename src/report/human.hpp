// Formats numbers and texts for people. Pure functions. They ignore the locale, so output is the
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
// As format_duration(), for a guess: "under 1 s" where more digits would say nothing.
[[nodiscard]] std::string format_estimate(double seconds);
[[nodiscard]] std::string format_fixed(double value,
                                       int digit_count);  // "3.14"; "-" where not finite
// Gives three significant digits: "0.0123", "1.23", "12.3", "1,234".
[[nodiscard]] std::string format_short(double value);
[[nodiscard]] std::string format_period(double period);  // "10", or "7.5" where it is not whole
[[nodiscard]] std::string format_percent(double share);  // share of 1: "0.42 %", "12 %"
// Gives the share of the work that is done. If there is no work, all is done.
[[nodiscard]] std::string format_share(std::uint64_t done, std::uint64_t total);

// "1 clip", "1,234 clips".
[[nodiscard]] std::string format_list(const std::vector<std::string>& items);  // "a, b"
[[nodiscard]] std::string format_counted(std::uint64_t count, std::string_view one,
                                         std::string_view many);

// Returns the columns that `text` takes on a terminal. Combining marks take none, East Asian wide
// characters two.
[[nodiscard]] std::size_t display_width(std::string_view text);
// Cuts text to at most `width` columns; cut text ends in "…". Never splits a character, nor parts
// a letter from its marks.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t width);
// Turns control characters and broken UTF-8 into visible text ("\n", "\x1b"), and also characters
// that change the direction of writing. So a corpus's text cannot steer a terminal.
[[nodiscard]] std::string escape_controls(std::string_view text);
// The same for a message of several lines, whose ends stay.
[[nodiscard]] std::string escape_controls_in_lines(std::string_view message);

}  // namespace xtts::report
