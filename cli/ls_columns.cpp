#include "cli/ls_columns.hpp"

#include <array>
#include <charconv>

#include "base/nearest_name.hpp"
#include "report/human.hpp"

namespace xtts::cli {
namespace {

Status unknown_column(std::string_view name) {
  std::vector<std::string> known;
  for (const query::Field& field : query::fields()) known.emplace_back(field.name);
  const std::string near = nearest_of(name, known);
  return {StatusCode::kInvalidArgument, "--columns: '" + report::escape_controls(name) +
                                            "' is no column" +
                                            (near.empty() ? "" : "; did you mean '" + near + "'?") +
                                            "; `xtts-precompute ls --help` lists them"};
}

// Six digits: what a person compares. --json has every digit.
std::string number_text(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::general, 6);
  return {digits.data(), end.ptr};
}

std::string cell_of(const query::Field& field, const query::Clip& clip) {
  const query::FieldValue value = field.get(clip);
  if (const auto* text = std::get_if<std::string_view>(&value))
    return report::escape_controls(*text);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* rules = std::get_if<query::RuleNames>(&value)) {
    std::vector<std::string> names;
    for (const formats::Reason& reason : *rules) names.emplace_back(formats::name_of(reason));
    return report::format_list(names);
  }
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr) return "";
  return field.name == "seconds" ? report::format_fixed(*number, 2) : number_text(*number);
}

}  // namespace

Result<LsColumns> LsColumns::parse(std::string_view names) {
  LsColumns columns;
  for (std::size_t start = 0; start <= names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    const std::string_view name = names.substr(start, end - start);
    const query::Field* field = query::find_field(name);
    if (field == nullptr) return unknown_column(name);
    columns.fields_.push_back(field);
    start = end + 1;
  }
  return columns;
}

std::vector<report::Align> LsColumns::alignment() const {
  std::vector<report::Align> alignment;
  for (const query::Field* field : fields_) {
    const bool is_number = field->type == query::FieldType::kNumber;
    alignment.push_back(is_number ? report::Align::kRight : report::Align::kLeft);
  }
  return alignment;
}

std::vector<std::string> LsColumns::header() const {
  std::vector<std::string> names;
  for (const query::Field* field : fields_) names.emplace_back(field->name);
  return names;
}

std::vector<std::string> LsColumns::cells(const query::Tables& tables,
                                          const ClipFacts& clip) const {
  std::vector<std::string> cells;
  for (const query::Field* field : fields_) {
    cells.push_back(field->name == "id" ? report::escape_controls(clip.full_id())
                                        : cell_of(*field, {tables, clip.plan, clip.facts}));
  }
  return cells;
}

}  // namespace xtts::cli
