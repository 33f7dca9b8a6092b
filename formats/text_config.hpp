// The text section of a recipe decides the tokens column. Plain values; validate() returns every
// problem at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/record_length.hpp"

namespace xtts::formats {

enum class TokenKind { kNone, kBytes, kCharacters };
enum class LongText { kDrop, kTruncate };
enum class UnknownCharacter { kDrop, kUnknownToken, kError };

// A table of text.normalize. Its rows are a part of the fingerprint, so a changed table is seen.
struct TextTable {
  std::string name;
  std::string rows;

  friend bool operator==(const TextTable&, const TextTable&) = default;
};

struct TextConfig {
  TokenKind tokens = TokenKind::kBytes;
  // kCharacters: one character a line or one line of characters; token i+1 is the i-th, 0 is
  // padding. The characters themselves, not the file's path, enter the fingerprint.
  std::string vocabulary;
  RecordLength max_tokens = 200;  // of a recipe that does not say: auto (recipe/key_table.hpp)
  LongText too_long = LongText::kDrop;
  // kDrop leaves the character out; kUnknownToken writes token vocabulary_size + 1; kError rejects
  // the clip.
  UnknownCharacter unknown = UnknownCharacter::kDrop;
  // Tokenizes the normalized text if there is one, else the raw text.
  bool use_normalized = true;
  // false: the cache holds sound alone. Then there are no tokens either.
  bool store = true;
  // Applied to a text in this order, before its tokens are made. The result is stored as the
  // normalized text.
  std::vector<TextTable> normalize = {};

  [[nodiscard]] std::vector<std::string> validate() const;
};

}  // namespace xtts::formats
