#include "doctor/configuration_check.hpp"

#include <utility>

#include "doctor/json_values.hpp"

namespace xtts::doctor {
namespace {

using nlohmann::json;

CheckStatus status_at(const json& object) {
  return status_named(text_at(object, "status")).value_or(CheckStatus::kCannotTell);
}

Finding finding_of(const json& one) {
  Finding finding{.status = status_at(one),
                  .text = text_at(one, "text"),
                  .remedy = text_at(one, "remedy"),
                  .place = text_at(one, "place")};
  for (const json& change : one.at("config_changes"))
    finding.changes.push_back({.key = text_at(change, "key"),
                               .before = text_at(change, "before"),
                               .after = text_at(change, "after"),
                               .reason = text_at(change, "reason")});
  if (const json& gain = one.at("gain"); gain.is_object())
    finding.gain =
        Gain{.low = gain.at("low"), .high = gain.at("high"), .basis = text_at(gain, "basis")};
  return finding;
}

Check check_of(const json& one) {
  Check check{.name = text_at(one, "name"),
              .title = text_at(one, "title"),
              .status = status_at(one),
              .summary = text_at(one, "summary")};
  for (const json& fact : one.at("evidence"))
    check.evidence.push_back({.what = text_at(fact, "what"),
                              .value = text_at(fact, "value"),
                              .source = text_at(fact, "source")});
  for (const json& finding : one.at("findings")) check.findings.push_back(finding_of(finding));
  return check;
}

}  // namespace

Check check_configuration(const Result<json>& document, const std::string& path) {
  Check none{.name = "configuration", .title = "Configuration"};
  if (!document.ok()) {
    none.summary = path + " was not judged: " + document.status().message() + ".";
    return none;
  }
  try {
    return check_of(document->at("checks").at(0));
  } catch (const json::exception& error) {
    none.summary = path + " was not judged: the adviser's answer is another one (" +
                   std::string(error.what()) + ").";
    return none;
  }
}

}  // namespace xtts::doctor
