// The fields of expressions: one table for the parser, the messages and `ls --where --help`.
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
// kPlan: plan rows have the field. kFacts: only the facts have it.
enum class FieldSource { kPlan, kFacts };

// The rules of a clip's warnings. A comparison is true if any one of them matches.
using RuleNames = std::span<const formats::Reason>;
// monostate: unknown. Text and rules point into the clip's facts or tables.
using FieldValue = std::variant<std::monostate, double, std::string_view, bool, RuleNames>;

struct Field {
  std::string_view name;
  FieldType type;
  FieldSource source;
  std::string_view help;  // with its unit
  FieldValue (*get)(const Clip& clip);
  // The possible texts, separated by one space; empty: any text.
  std::string_view choices = {};
  // The text with the data set in front, as `ls` prints an id, is tried as well.
  bool has_full_form = false;
};

[[nodiscard]] std::span<const Field> fields();
[[nodiscard]] const Field* find_field(std::string_view name);
// True where the field is known before the clip's sound is read and its text is tokenized.
[[nodiscard]] bool is_of_lists(const Field& field) noexcept;

}  // namespace xtts::query
