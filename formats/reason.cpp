#include "formats/reason.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/preamble.hpp"
#include "formats/rules.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

constexpr double kWholeMax = 9007199254740992.0;  // 2^53: up to it a double is exact

// Writes whole numbers without a point, as counts are.
json number_to_json(double value) {
  if (!std::isfinite(value)) value = std::numeric_limits<double>::max();  // JSON has no infinity
  if (value == std::floor(value) && std::abs(value) <= kWholeMax)
    return static_cast<std::int64_t>(value);
  return value;
}

std::string key_of(std::string_view name) {
  return std::string(name);
}

// Returns a text member of a reason that is kept as JSON; empty where it has none.
std::string member_of(const Reason& unknown, const char* name) {
  const auto kept = parse_json(unknown.detail);
  if (!kept || !kept->is_object()) return {};
  const auto member = kept->find(name);
  return member != kept->end() && member->is_string() ? member->get<std::string>() : std::string();
}

}  // namespace

std::string name_of(const Reason& reason) {
  if (reason.rule != Rule::kUnknown) return std::string(name_of(reason.rule));
  const std::string kept = member_of(reason, "rule");
  return kept.empty() ? "unknown" : kept;
}

Stage stage_of(const Reason& reason) {
  if (reason.rule != Rule::kUnknown) return info_of(reason.rule).stage;
  const std::string kept = member_of(reason, "stage");
  const auto known = std::ranges::find_if(
      all_rules(), [&](const RuleInfo& info) { return to_string(info.stage) == kept; });
  return known == all_rules().end() ? Stage::kUnknown : known->stage;
}

void put_reason(const Reason& reason, json& object) {
  if (reason.rule == Rule::kUnknown) {
    const auto kept = parse_json(reason.detail);
    if (kept && kept->is_object()) object.insert(kept->begin(), kept->end());
    return;
  }
  const RuleInfo& info = info_of(reason.rule);
  object.emplace("rule", info.name);
  for (std::size_t i = 0; i < info.numbers.size(); ++i) {
    if (!info.numbers[i].empty())
      object[key_of(info.numbers[i])] = number_to_json(reason.numbers[i]);
  }
  if (!reason.detail.empty()) object[key_of(info.text)] = reason.detail;
}

Result<Reason> read_reason(const json& object) {
  if (!object.is_object()) return corrupt("a reason is no object");
  Reason reason;
  const auto name = object.find("rule");
  const auto found =
      name == object.end() || !name->is_string()
          ? all_rules().end()
          : std::ranges::find(all_rules(), name->get_ref<const std::string&>(), &RuleInfo::name);
  if (found == all_rules().end()) {
    reason.detail = dump_canonical(object);
    return reason;
  }
  reason.rule = found->rule;
  for (std::size_t i = 0; i < found->numbers.size(); ++i) {
    if (found->numbers[i].empty()) continue;
    const auto number = object.find(key_of(found->numbers[i]));
    if (number == object.end() || !number->is_number())
      return corrupt(key_of(found->numbers[i]) + ": is missing, or no number");
    reason.numbers[i] = number->get<double>();
    if (!std::isfinite(reason.numbers[i]) || reason.numbers[i] < 0.0)
      return corrupt(key_of(found->numbers[i]) + ": is no count and no measure");
  }
  if (const auto text = object.find(key_of(found->text)); text != object.end()) {
    if (!text->is_string()) return corrupt(key_of(found->text) + ": is no text");
    reason.detail = text->get<std::string>();
  }
  return reason;
}

std::string encode_reasons(std::span<const Reason> reasons) {
  json list = json::array();
  for (const Reason& reason : reasons) put_reason(reason, list.emplace_back(json::object()));
  return dump_canonical(list);
}

Result<std::vector<Reason>> decode_reasons(std::string_view text) {
  XTTS_ASSIGN(const json list, parse_json(text));
  if (!list.is_array()) return corrupt("is no array");
  std::vector<Reason> reasons;
  for (const json& object : list) {
    XTTS_ASSIGN(reasons.emplace_back(), read_reason(object));
  }
  return reasons;
}

}  // namespace xtts::formats
