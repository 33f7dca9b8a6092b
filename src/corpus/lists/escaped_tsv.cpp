#include "corpus/lists/escaped_tsv.hpp"

#include <algorithm>
#include <utility>

#include "corpus/lists/line_reader.hpp"

namespace xtts::corpus {
namespace {

// Unescapes into `out`, which keeps its memory for the next row.
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

EscapedTsv::EscapedTsv(std::string_view header) {
  for (const std::string_view name : fields_of(header, '\t')) names_.emplace_back(name);
  fields_.resize(names_.size());
}

std::optional<std::size_t> EscapedTsv::column(std::string_view name) const {
  const auto place = std::find(names_.begin(), names_.end(), name);
  if (place == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(place - names_.begin());
}

Status EscapedTsv::take(std::string_view line) {
  const auto fields = fields_of(line, '\t');
  if (auto fault = fault_of_field_count(fields.size(), names_.size())) {
    return {StatusCode::kBadInput, std::move(*fault)};
  }
  for (std::size_t i = 0; i < fields.size(); ++i) unescape(fields[i], fields_[i]);
  return {};
}

std::string_view EscapedTsv::field(std::optional<std::size_t> column) const {
  return column ? std::string_view(fields_[*column]) : std::string_view();
}

}  // namespace xtts::corpus
