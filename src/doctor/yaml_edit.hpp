// Edits single values of a YAML text by dotted key ("data.batch_size"), and keeps all else:
// comments, order, quotes, indents, line ends, a byte order mark. Of the other bytes of the file,
// an edit changes only the blanks before a comment behind the value, so that the comment keeps its
// column.
//
// An edit finds its line with the parser and changes that line alone. Then it parses the new text
// and compares the two trees: exactly the intended key may differ. Otherwise the edit is refused,
// and the caller keeps the old text. So a construct that is not understood costs an edit, never a
// file.
//
// Refused (kUnsupported, with the line and the reason): values in braces, anchors, tags, block
// texts, keys that stand twice, sections that an anchor shares. An alias may be replaced by a
// value. Other failures: kInvalidArgument (not YAML), kNotFound (no such section). Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "xtts/status.hpp"

namespace xtts::doctor {

enum class ValueStyle : std::uint8_t {
  kPlain,  // a number or a boolean: never in quotes
  kText,   // a text: in the quotes of the old value, or in quotes where PyYAML needs them
};

// Sets a value. A key that is absent gets a line at the end of its section; an absent section comes
// at the end of the text.
[[nodiscard]] Result<std::string> set_yaml_value(std::string_view text, std::string_view origin,
                                                 std::string_view key, std::string_view value,
                                                 ValueStyle style);

// Makes comments of the lines of a key, so that the text still tells what was there. A key without
// a dot names a section.
[[nodiscard]] Result<std::string> remove_yaml_key(std::string_view text, std::string_view origin,
                                                  std::string_view key);

}  // namespace xtts::doctor
