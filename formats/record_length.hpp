// RecordLength: the frames or tokens that a record has room for. A recipe gives the number, or
// leaves it to the corpus: `auto`, and `800+` for at least 800. A build then takes the smallest
// number that holds nearly all clips (pipeline/lengths.hpp), and the cache's manifest holds that
// number. Plain value.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/formatted.hpp"

namespace xtts::formats {

struct RecordLength {
  // While the corpus decides: what holds where there is no corpus to ask.
  std::uint32_t number = 0;
  // Set: the corpus decides, but at least this many.
  std::optional<std::uint32_t> least = {};

  // Implicit both ways: mostly a length is just its number.
  constexpr RecordLength(std::uint32_t given) noexcept : number(given) {}  // NOLINT
  constexpr operator std::uint32_t() const noexcept { return number; }     // NOLINT

  [[nodiscard]] static constexpr RecordLength of_corpus(std::uint32_t least = 0) noexcept {
    constexpr std::uint32_t kWithoutCorpus = 800;
    RecordLength length(least > 0 ? least : kWithoutCorpus);
    length.least = least;
    return length;
  }
  [[nodiscard]] constexpr bool is_of_corpus() const noexcept { return least.has_value(); }
};

// "800", "auto", "800+"
[[nodiscard]] inline std::string to_string(const RecordLength& length) {
  if (!length.is_of_corpus()) return std::to_string(length.number);
  return *length.least == 0 ? "auto" : formatted("{}+", *length.least);
}

[[nodiscard]] inline std::optional<RecordLength> parse_record_length(std::string_view text) {
  if (text == "auto") return RecordLength::of_corpus();
  const bool is_least = text.ends_with('+');
  if (is_least) text.remove_suffix(1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return is_least ? RecordLength::of_corpus(number) : RecordLength(number);
}

}  // namespace xtts::formats
