#include "corpus/tsv_rows.hpp"

#include <algorithm>

#include "corpus/names.hpp"

namespace xtts::corpus {
namespace {

// Into `out`, whose memory is used again for each row.
void unescape(std::string_view field, std::string& out) {
  out.clear();
  if (field.find('\\') == std::string_view::npos) {
    out = field;
    return;
  }
  for (std::size_t i = 0; i < field.size(); ++i) {
    const bool is_escape =
        field[i] == '\\' && i + 1 < field.size() && (field[i + 1] == '"' || field[i + 1] == '\\');
    if (is_escape) ++i;
    out += field[i];
  }
}

}  // namespace

TsvRows::TsvRows(std::string_view header) {
  for (;;) {
    const auto tab = header.find('\t');
    names_.emplace_back(trimmed(header.substr(0, tab)));
    if (tab == std::string_view::npos) break;
    header.remove_prefix(tab + 1);
  }
  fields_.resize(names_.size());
}

std::optional<std::size_t> TsvRows::column(std::string_view name) const {
  const auto place = std::find(names_.begin(), names_.end(), name);
  if (place == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(place - names_.begin());
}

Status TsvRows::take(std::string_view line) {
  const auto field_count = static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1;
  // Neither fewer nor more: a sentence with a tab or a line end in it would lose its other half.
  if (field_count != names_.size()) {
    return {StatusCode::kBadInput, "has " + counted(field_count, "field", "fields") +
                                       " where the header line has " +
                                       std::to_string(names_.size())};
  }
  for (std::string& field : fields_) {
    const auto tab = line.find('\t');
    unescape(trimmed(line.substr(0, tab)), field);
    line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
  }
  return {};
}

std::string_view TsvRows::field(std::optional<std::size_t> column) const {
  return column ? std::string_view(fields_[*column]) : std::string_view();
}

}  // namespace xtts::corpus
