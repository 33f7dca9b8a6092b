#include "cli/diff_view.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "base/formatted.hpp"
#include "reader/repair_advice.hpp"
#include "report/human.hpp"
#include "report/table.hpp"

namespace xtts::cli {
namespace {

using maintain::ClipDifference;
using maintain::ColumnDifference;
using maintain::ColumnSummary;
using maintain::DiffReport;
using maintain::UnreadableRecord;
using nlohmann::json;
using report::Align;
using report::escape_controls;
using report::format_count;
using report::format_counted;

constexpr std::size_t kTextWidth = 60;  // width of each of two texts side by side

std::string quoted(const std::string& text) {
  return formatted("\"{}\"", report::shorten(escape_controls(text), kTextWidth));
}

// Shows differences as small as 1e-6, which format_short would print as 0.
std::string format_distance(double value) {
  if (std::isinf(value)) return "infinite";
  if (value == 0.0 || value >= 1e-3) return report::format_short(value);
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific, 2).ptr;
  return {text.begin(), end};
}

std::string at_place(std::uint32_t row, std::uint32_t channel) {
  return formatted("frame {}, channel {}", format_count(row), format_count(channel));
}

std::string describe(const ColumnDifference& difference) {
  const auto& values = difference.values;
  std::string text = formatted("  {}:", escape_controls(difference.column));
  if (values.length_a != values.length_b) {
    text += formatted(" length {} in A, {} in B;", format_count(values.length_a),
                      format_count(values.length_b));
  }
  if (values.fills_differ) text += " padded with another value;";
  if (values.differing_count == 0) {
    text += " the values of both are the same";
  } else {
    text += formatted(
        " {} of {} differ, by at most {} ({}), on average {}", format_count(values.differing_count),
        format_counted(values.value_count, "value", "values"), format_distance(values.max_abs),
        at_place(values.row, values.channel), format_distance(values.mean_abs()));
  }
  return text + "\n";
}

std::string describe(const ClipDifference& difference) {
  std::string text = "differs: " + escape_controls(difference.id);
  if (difference.sources_differ) text += " (its audio files differ)";
  text += '\n';
  for (const auto& field : difference.fields) {
    text +=
        formatted("  {}: {} in A, {} in B\n", field.field, quoted(field.in_a), quoted(field.in_b));
  }
  for (const auto& column : difference.columns) text += describe(column);
  return text;
}

std::string describe_more(std::uint64_t count, std::size_t listed, const std::string& what) {
  if (count <= listed) return {};
  return formatted("and {} more {} (--limit N lists more)\n", format_count(count - listed), what);
}

std::string describe(const ColumnSummary& column) {
  std::string text = formatted("{}: {} compared, {}{}", column.column,
                               format_counted(column.compared_count, "clip", "clips"),
                               format_count(column.differing_count),
                               column.differing_count == 1 ? " differs" : " differ");
  if (column.tolerated_count > 0)
    text += formatted(", {} within the tolerance", format_count(column.tolerated_count));
  if (!column.max_id.empty()) {
    text += formatted("; by at most {} ({}, {}), on average {}", format_distance(column.max_abs),
                      escape_controls(column.max_id), at_place(column.max_row, column.max_channel),
                      format_distance(column.mean_abs()));
  }
  return text;
}

// JSON has no word for infinity.
json finite_or_null(double value) {
  return std::isfinite(value) ? json(value) : json();
}

json to_json(const ColumnDifference& difference) {
  const auto& values = difference.values;
  return {{"column", difference.column},
          {"length_a", values.length_a},
          {"length_b", values.length_b},
          {"fills_differ", values.fills_differ},
          {"values", values.value_count},
          {"differing_values", values.differing_count},
          {"max_abs", finite_or_null(values.max_abs)},
          {"mean_abs", finite_or_null(values.mean_abs())},
          {"frame", values.row},
          {"channel", values.channel}};
}

json to_json(const ClipDifference& difference) {
  json fields = json::array();
  for (const auto& field : difference.fields)
    fields.push_back({{"field", field.field}, {"a", field.in_a}, {"b", field.in_b}});
  json columns = json::array();
  for (const auto& column : difference.columns) columns.push_back(to_json(column));
  return {{"id", difference.id},
          {"fields", fields},
          {"columns", columns},
          {"sources_differ", difference.sources_differ}};
}

json to_json(const ColumnSummary& column) {
  return {{"column", column.column},
          {"clips", column.compared_count},
          {"differing", column.differing_count},
          {"within_tolerance", column.tolerated_count},
          {"values", column.value_count},
          {"max_abs", finite_or_null(column.max_abs)},
          {"mean_abs", finite_or_null(column.mean_abs())},
          {"max_id", column.max_id.empty() ? json() : json(column.max_id)},
          {"frame", column.max_row},
          {"channel", column.max_channel}};
}

json to_json(const UnreadableRecord& record) {
  return {{"id", record.id},
          {"cache", record.cache},
          {"column", record.column},
          {"problem", record.problem}};
}

template <typename Item>
json list_of(const std::vector<Item>& items) {
  json list = json::array();
  for (const Item& item : items) list.push_back(to_json(item));
  return list;
}

// Gives "'xtts-precompute verify b --repair' mends it".
std::string repairs_of(const DiffReport& report) {
  std::set<std::string> caches;
  for (const auto& record : report.unreadable) caches.insert(record.cache);
  std::string text;
  for (const std::string& cache : caches)
    text += (text.empty() ? "" : " and ") + command_in_text(reader::repair_command(cache));
  return text +
         (caches.size() == 1 ? " mends it or says what would" : " mend them or say what would");
}

}  // namespace

std::string describe_caches(const DiffQuestion& question, const DiffReport& report) {
  report::Table table({Align::kLeft, Align::kLeft});
  const auto add_cache = [&](const char* side, const std::string& path, std::uint64_t clips,
                             std::uint64_t generation) {
    table.add_row(
        {side, formatted("{}: {}, generation {}", escape_controls(path),
                         format_counted(clips, "clip", "clips"), format_count(generation))});
  };
  add_cache("A", question.a, report.clip_count_a, report.generation_a);
  add_cache("B", question.b, report.clip_count_b, report.generation_b);
  const auto add_lines = [&](std::string head, const std::vector<std::string>& lines) {
    if (lines.empty()) table.add_row({std::move(head), "the same"});
    for (const std::string& line : lines)
      table.add_row({std::exchange(head, ""), escape_controls(line)});
  };
  add_lines("Recipe", report.recipe);
  add_lines("Numerics", report.numerics);
  add_lines("Columns", report.columns);
  return table.render();
}

std::string describe_differences(const DiffReport& report) {
  std::string text;
  for (const auto& id : report.only_in_a) text += formatted("only in A: {}\n", escape_controls(id));
  text += describe_more(report.only_in_a_count, report.only_in_a.size(), "only in A");
  for (const auto& id : report.only_in_b) text += formatted("only in B: {}\n", escape_controls(id));
  text += describe_more(report.only_in_b_count, report.only_in_b.size(), "only in B");
  for (const auto& record : report.unreadable) {
    text += formatted("damaged: {} in {}: {}\n", escape_controls(record.id),
                      escape_controls(record.cache), escape_controls(record.problem));
  }
  text += describe_more(report.unreadable_count, report.unreadable.size(), "damaged records");
  for (const auto& difference : report.differing) text += describe(difference);
  return text + describe_more(report.differing_count, report.differing.size(), "that differ");
}

std::string describe_outcome(const DiffQuestion& question, const DiffReport& report) {
  std::string text;
  for (const auto& column : report.compared) text += describe(column) + "\n";
  text += report.equal ? "equal" : "different";
  if (report.equal && question.tolerance) text += " within " + format_distance(*question.tolerance);
  text += formatted(": {} the same, {} different, {} only in A, {} only in B",
                    format_counted(report.same_count, "clip", "clips"),
                    format_count(report.differing_count), format_count(report.only_in_a_count),
                    format_count(report.only_in_b_count));
  if (report.unreadable_count > 0) {
    text += formatted(", {} ({})",
                      format_counted(report.unreadable_count, "damaged record", "damaged records"),
                      repairs_of(report));
  }
  return formatted("{}; in {}\n", text, report::format_duration(question.seconds));
}

json diff_to_json(const DiffQuestion& question, const DiffReport& report) {
  return {
      {"equal", report.equal},
      {"a",
       {{"path", question.a}, {"clips", report.clip_count_a}, {"generation", report.generation_a}}},
      {"b",
       {{"path", question.b}, {"clips", report.clip_count_b}, {"generation", report.generation_b}}},
      {"recipe", report.recipe},
      {"numerics", report.numerics},
      {"columns", report.columns},
      {"common_count", report.common_count},
      {"same_count", report.same_count},
      {"only_in_a", report.only_in_a},
      {"only_in_a_count", report.only_in_a_count},
      {"only_in_b", report.only_in_b},
      {"only_in_b_count", report.only_in_b_count},
      {"differing", list_of(report.differing)},
      {"differing_count", report.differing_count},
      {"damaged", list_of(report.unreadable)},
      {"damaged_count", report.unreadable_count},
      {"compared", list_of(report.compared)},
      {"tolerance", question.tolerance ? json(*question.tolerance) : json()},
      {"seconds", question.seconds}};
}

}  // namespace xtts::cli
