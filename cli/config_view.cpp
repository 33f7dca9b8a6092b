#include "cli/config_view.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "doctor/check_json.hpp"
#include "report/human.hpp"

namespace xtts::cli {
namespace {

using doctor::Check;
using doctor::CheckStatus;
using doctor::ConfigChange;
using doctor::Finding;
using report::escape_controls;

std::string_view word_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::kFail:
      return "fault";
    case CheckStatus::kWarn:
      return "warning";
    case CheckStatus::kCannotTell:
      return "not judged";
    case CheckStatus::kPass:
      return "note";
  }
  return "note";
}

// "5", "1.3": a factor without zeros at its end.
std::string factor_text(double factor) {
  std::string text = std::to_string(factor);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string gain_text(const doctor::Gain& gain) {
  std::string text = factor_text(gain.low);
  if (gain.low != gain.high) text += " to " + factor_text(gain.high);
  return text + " times as fast (" + gain.basis + ")";
}

std::string text_of(const Finding& finding) {
  std::string text = escape_controls(finding.place) + ": " + std::string(word_of(finding.status)) +
                     ": " + escape_controls(finding.text) + "\n";
  if (!finding.remedy.empty()) text += "  -> " + escape_controls(finding.remedy) + "\n";
  if (finding.gain) text += "     " + gain_text(*finding.gain) + "\n";
  return text;
}

std::string text_of(const ConfigChange& change) {
  const std::string key = escape_controls(change.key);
  const std::string before = escape_controls(change.before);
  const std::string after = escape_controls(change.after);
  if (change.after.empty()) return key + ": now a comment\n";
  return key + ": " + (before.empty() ? "added" : before) + " -> " + after + "\n";
}

}  // namespace

std::string findings_text(const Check& check) {
  constexpr std::array kOrder{CheckStatus::kFail, CheckStatus::kWarn, CheckStatus::kCannotTell,
                              CheckStatus::kPass};
  std::string text;
  for (const CheckStatus status : kOrder) {
    for (const Finding& finding : check.findings)
      if (finding.status == status) text += text_of(finding);
  }
  return text;
}

std::string fix_text(const doctor::ConfigFix& fix) {
  std::string text;
  for (const ConfigChange& change : fix.changes) text += "mended " + text_of(change);
  for (const std::string& reason : fix.refused) text += "left " + escape_controls(reason) + "\n";
  if (!fix.backup.empty()) text += "the old file is " + escape_controls(fix.backup) + "\n";
  return text;
}

void add_fix(const doctor::ConfigFix& fix, nlohmann::json& document) {
  document["fixed"] = nlohmann::json::array();
  for (const doctor::ConfigChange& change : fix.changes)
    document["fixed"].push_back(doctor::to_json(change));
  document["refused"] = fix.refused;
  document["backup"] = fix.backup.empty() ? nlohmann::json() : nlohmann::json(fix.backup);
}

}  // namespace xtts::cli
