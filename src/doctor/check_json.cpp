#include "doctor/check_json.hpp"

#include <string>

namespace xtts::doctor {
namespace {

using nlohmann::json;

template <typename Value>
json list_of(const std::vector<Value>& values) {
  json list = json::array();
  for (const Value& value : values) list.push_back(to_json(value));
  return list;
}

json text_or_null(const std::string& text) {
  return text.empty() ? json() : json(text);
}

json to_json(const Evidence& evidence) {
  return {{"what", evidence.what},
          {"value", evidence.value},
          {"source", evidence.source},
          {"number", evidence.number ? json(*evidence.number) : json()},
          {"unit", text_or_null(evidence.unit)}};
}

json to_json(const std::optional<Gain>& gain) {
  if (!gain) return nullptr;
  return {{"low", gain->low}, {"high", gain->high}, {"basis", gain->basis}};
}

// The contract has one remedy for each check: that of the finding which matters most.
json remedy_of(const Check& check) {
  const Advice advice = advise({check});
  return advice.recommendations.empty() ? json() : json(advice.recommendations.front().remedy);
}

}  // namespace

json to_json(const ConfigChange& change) {
  return {{"key", change.key},
          {"before", text_or_null(change.before)},
          {"after", change.after},
          {"reason", change.reason}};
}

json to_json(const Finding& finding) {
  return {{"status", name_of(finding.status)},          {"text", finding.text},
          {"place", text_or_null(finding.place)},       {"remedy", text_or_null(finding.remedy)},
          {"config_changes", list_of(finding.changes)}, {"gain", to_json(finding.gain)}};
}

json to_json(const Check& check) {
  json evidence = json::array();
  for (const Evidence& one : check.evidence) evidence.push_back(to_json(one));
  return {{"name", check.name},
          {"title", check.title},
          {"status", name_of(check.status)},
          {"summary", check.summary},
          {"evidence", std::move(evidence)},
          {"findings", list_of(check.findings)},
          {"remedy", remedy_of(check)}};
}

json to_json(const std::vector<Check>& checks) {
  const Advice advice = advise(checks);
  return {{"checks", list_of(checks)},
          {"issues", list_of(advice.issues)},
          {"recommendations", list_of(advice.recommendations)},
          {"config_changes", list_of(advice.changes)}};
}

}  // namespace xtts::doctor
