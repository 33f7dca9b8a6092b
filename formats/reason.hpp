// Reasons say why a clip is not stored (reject.hpp), or why a stored clip is odd (a warning). A
// reason is a rule, its numbers and a text. Only report/reasons.hpp turns it into words, where it
// is shown. rules.hpp names the rules. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::formats {

enum class Rule : std::uint8_t;
enum class Stage : std::uint8_t;

struct Reason {
  Rule rule = {};                      // kUnknown by default
  std::array<double, 2> numbers = {};  // their names are in RuleInfo
  // The subject of the rule (an id, a column), or a message of a library or a list's reader.
  std::string detail = {};

  friend bool operator==(const Reason&, const Reason&) = default;
};

// For a rule that this version does not know, the name comes from its JSON.
[[nodiscard]] std::string name_of(const Reason& reason);
[[nodiscard]] Stage stage_of(const Reason& reason);

// Adds members to a JSON object: rule, numbers by name, and the text by its name where it is not
// empty. Keeps members that are already there.
void put_reason(const Reason& reason, nlohmann::json& object);
// Reads such an object and ignores other members. kCorrupt where a number is missing, negative or
// not finite. An object without a known rule is kept whole, as kUnknown.
[[nodiscard]] Result<Reason> read_reason(const nlohmann::json& object);

// Encodes a record's warnings for storage: a canonical JSON array.
[[nodiscard]] std::string encode_reasons(std::span<const Reason> reasons);
[[nodiscard]] Result<std::vector<Reason>> decode_reasons(std::string_view json);

}  // namespace xtts::formats
