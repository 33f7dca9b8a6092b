// The fields that expressions know: one table for the parser, the messages and `ls --where --help`.
// Immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "formats/reason.hpp"
#include "query/expression.hpp"

namespace xtts::query {

enum class FieldType { kNumber, kText, kFlag };
// Plan rows have it; only the facts have it.
enum class FieldSource { kPlan, kFacts };

// The rules of a clip's warnings: any number of names, of which a comparison asks for any one.
using RuleNames = std::span<const formats::Reason>;
// Nothing: unknown. Text and rules show memory of the clip's facts or tables.
using FieldValue = std::variant<std::monostate, double, std::string_view, bool, RuleNames>;

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
// Known of a clip before its sound is read and its text is tokenized.
[[nodiscard]] bool is_of_lists(const Field& field) noexcept;

}  // namespace xtts::query
