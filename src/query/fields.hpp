// The fields that expressions know: one table for the parser, the messages and `ls --where --help`.
// Immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "query/expression.hpp"

namespace xtts::query {

enum class FieldType { kNumber, kText, kFlag };
// Plan rows have it; only the facts have it.
enum class FieldSource { kPlan, kFacts };

// Nothing: unknown. Text shows memory of the clip's facts or tables.
using FieldValue = std::variant<std::monostate, double, std::string_view, bool>;

struct Field {
  std::string_view name;
  FieldType type;
  FieldSource source;
  std::string_view help;  // with its unit
  FieldValue (*get)(const Clip& clip);
  // Where only some texts are possible: these, with one space between.
  std::string_view choices = {};
};

[[nodiscard]] std::span<const Field> fields();
[[nodiscard]] const Field* find_field(std::string_view name);
[[nodiscard]] std::string_view split_name(
    std::uint8_t split);  // "train"; "unknown" for other numbers

}  // namespace xtts::query
