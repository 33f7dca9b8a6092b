// Regular expressions for texts that anybody may have written, and patterns that a user mistypes:
// POSIX extended syntax, with \d \D \w \W \s \S \b added, matched by the C library.
//
// Guarded so that no pattern hangs or exhausts memory: without back references the library's
// matcher never backtracks; patterns are at most 500 bytes, repetition counts multiply to at most
// 255, parentheses nest 20 deep, and only the first 64 KiB of a text are looked at. Characters are
// UTF-8 whatever the user's locale is. std::regex was passed over: it recurses once a character and
// backtracks without limit.
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
