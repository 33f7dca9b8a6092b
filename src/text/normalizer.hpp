// TextNormalizer applies the tables of text.normalize to a text, one after the other. Immutable,
// share freely.
//
// A table replaces sequences of code points: rows "FROM>TO" with commas between, code points in
// hexadecimal with '+' between, '^' and '$' for a text's beginning and end. At each place the
// longest FROM counts. Tables are applied again, one by one and all together, until the text no
// longer changes: so normalized text stays as it is. The table `nfc` is Unicode's form C
// (base/nfc.hpp), and its row names the version.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/text_config.hpp"
#include "xtts/status.hpp"

namespace xtts::text {

class TextNormalizer {
 public:
  // kUnsupported: a table has a row that this version cannot read.
  [[nodiscard]] static Result<TextNormalizer> create(std::span<const formats::TextTable> tables);
  // A text that is not UTF-8 stays as it is.
  [[nodiscard]] std::string apply(std::string_view text) const;

 private:
  using CodePoints = std::vector<std::uint32_t>;
  struct Row {
    CodePoints from;
    CodePoints to;
  };
  struct Table {
    bool is_nfc = false;
    std::map<std::uint32_t, std::vector<Row>> rows;  // by the first of FROM, the longest first
    bool has_sequences = false;                      // otherwise one pass is enough
    std::uint32_t least = UINT32_MAX;                // of all first ones
  };

  TextNormalizer() = default;
  [[nodiscard]] static Result<Table> read(const formats::TextTable& table);
  [[nodiscard]] std::string apply_once(std::string_view text) const;
  [[nodiscard]] static bool replace(const Table& table, CodePoints& text);

  std::vector<Table> tables_;
};

}  // namespace xtts::text
