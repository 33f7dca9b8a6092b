// How PyYAML's safe_load reads a plain scalar: by YAML 1.1, whose words and numbers differ from
// those of YAML 1.2. `no` is a boolean there, and 1e-4 is a text, because a float needs a point and
// a signed exponent. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xtts::doctor {

enum class ScalarKind : std::uint8_t { kNull, kBool, kInt, kFloat, kText };

[[nodiscard]] ScalarKind kind_of_plain(std::string_view text);
// True for yes, no, on, off, true and false in any of their three spellings.
[[nodiscard]] std::optional<bool> bool_of_plain(std::string_view text);
// The value of an integer or float. Numbers to base 60 are read as absent.
[[nodiscard]] std::optional<double> number_of_plain(std::string_view text);
// Writes what a person means by a number so that PyYAML reads it as one: "1e-4" as "1.0e-4".
// Empty: `text` is no number to anybody.
[[nodiscard]] std::string as_float(std::string_view text);
[[nodiscard]] std::string as_int(std::string_view text);

}  // namespace xtts::doctor
