// Reasons: why a clip is not stored (reject.hpp), or what is odd about one that is (a warning). A
// reason is a rule, the rule's numbers and the text that the rule is about: words are made of it
// where they are shown (report/reasons.hpp), and nowhere else. rules.hpp names the rules. Pure
// functions.
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
  Rule rule = {};                      // none that is known
  std::array<double, 2> numbers = {};  // as the rule's names say
  // A name that the rule is about (an id, a column), or what a library or a list's reader says.
  std::string detail = {};

  friend bool operator==(const Reason&, const Reason&) = default;
};

// Of a rule that this version does not know: what its JSON says.
[[nodiscard]] std::string name_of(const Reason& reason);
[[nodiscard]] Stage stage_of(const Reason& reason);

// Members of a JSON object: rule, numbers by name, the text by its name where it is not empty.
// Members that are there already stay.
void put_reason(const Reason& reason, nlohmann::json& object);
// Of such an object; other members are passed over. kCorrupt where a number is missing, negative or
// not finite. An object without a rule that is known is kept whole, as kUnknown.
[[nodiscard]] Result<Reason> read_reason(const nlohmann::json& object);

// A record's warnings as they are stored: a canonical JSON array.
[[nodiscard]] std::string encode_reasons(std::span<const Reason> reasons);
[[nodiscard]] Result<std::vector<Reason>> decode_reasons(std::string_view json);

}  // namespace xtts::formats
