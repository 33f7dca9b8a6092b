#include "recipe/text_tables.hpp"

#include <algorithm>

#include "base/nfc.hpp"
#include "recipe/shipped.hpp"

namespace xtts::recipe {
namespace {

constexpr std::string_view kNfc = "nfc";

// "0020 200C<TAB>0020<TAB># comment" becomes "0020+200C>0020": comments are no part of a
// fingerprint.
std::string row_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return {};
  std::string row(line.substr(0, tab));
  std::string_view to = line.substr(tab + 1);
  to = to.substr(0, to.find('\t'));
  row += '>';
  row += to;
  std::ranges::replace(row, ' ', '+');
  return row;
}

std::string rows_of(std::string_view file) {
  std::string rows;
  while (!file.empty()) {
    const std::size_t end = std::min(file.find('\n'), file.size());
    const std::string row = row_of(file.substr(0, end));
    if (!row.empty()) rows += (rows.empty() ? "" : ",") + row;
    file.remove_prefix(std::min(end + 1, file.size()));
  }
  return rows;
}

}  // namespace

std::optional<formats::TextTable> text_table(std::string_view name) {
  if (name == kNfc)
    return formats::TextTable{std::string(kNfc), "Unicode " + std::string(unicode_version())};
  for (const ShippedTable& table : shipped_text_tables()) {
    if (table.name == name) return formats::TextTable{std::string(name), rows_of(table.text)};
  }
  return std::nullopt;
}

std::string text_table_names() {
  std::string names(kNfc);
  for (const ShippedTable& table : shipped_text_tables()) names += " | " + std::string(table.name);
  return names;
}

}  // namespace xtts::recipe
