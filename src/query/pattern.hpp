// Regular expressions in POSIX extended syntax, with \d \D \w \W \s \S \b added, matched by the C
// library. Texts and patterns are untrusted.
//
// Limits keep every pattern from hanging or exhausting memory. There are no back references, so
// the library's matcher never backtracks. Patterns have at most 500 bytes, repetition counts
// multiply to at most 255, parentheses nest at most 20 deep, and only the first 64 KiB of a text
// are searched. Characters are UTF-8 in any locale. We do not use std::regex: it recurses once per
// character and backtracks without limit.
//
// Immutable; share freely (POSIX lets any number of threads match with one compiled pattern).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts::query {

class Pattern {
 public:
  // kInvalidArgument with the reason, without the pattern.
  [[nodiscard]] static Result<Pattern> compile(std::string_view pattern);
  [[nodiscard]] bool found_in(std::string_view text) const;

 private:
  struct Compiled;
  explicit Pattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace xtts::query
