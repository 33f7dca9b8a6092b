// Names of clips and files: which are valid ids, how to print odd ones, which look alike. Pure
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/counted.hpp"

namespace xtts::corpus {

inline constexpr std::size_t kIdBytesMax = 1024;
inline constexpr std::size_t kLabelBytesMax = 255;

// Why `id` cannot name a clip: empty, too long, not UTF-8, or with a control character. nullopt: it
// can.
[[nodiscard]] std::optional<std::string> fault_of_id(std::string_view id);

// Why `label`, not empty, cannot name a speaker, a language or a data set: too long, not UTF-8, or
// with a control character. nullopt: it can.
[[nodiscard]] std::optional<std::string> fault_of_label(std::string_view label);

// Why `path`, as a list names it, may not be looked for: absolute, or with "..". nullopt: it may.
[[nodiscard]] std::optional<std::string> fault_of_listed_path(std::string_view path);

// `name` where it is UTF-8 without control characters; else those bytes, and '%', become %XX.
[[nodiscard]] std::string printable(std::string_view name);

// Names have the same folded text if they differ only in letter case, in the accents of Latin
// letters, in how Unicode encodes a letter (one code point or two), in Arabic letters and digits
// that keyboards confuse, or in what nobody sees (zero width non-joiner). Only hints and notes use
// it: ids are compared byte by byte. Covers ASCII, Latin-1, Latin Extended-A and Arabic.
[[nodiscard]] std::string folded(std::string_view name);

// "the list has 'ي' (U+064A) where the file has 'ی' (U+06CC)", of the first characters that differ;
// empty where none does.
[[nodiscard]] std::string first_difference(std::string_view listed, std::string_view found);

[[nodiscard]] bool equals_ignoring_case(std::string_view left,
                                        std::string_view right) noexcept;  // ASCII
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;    // of ASCII white space
[[nodiscard]] bool is_number(std::string_view text) noexcept;              // only ASCII digits

// The folder of a path relative to DATA; "" is DATA itself.
[[nodiscard]] std::string_view folder_of(std::string_view path) noexcept;

}  // namespace xtts::corpus
