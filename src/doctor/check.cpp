#include "doctor/check.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace xtts::doctor {
namespace {

constexpr std::array<std::pair<CheckStatus, std::string_view>, 4> kNames{{
    {CheckStatus::kPass, "pass"},
    {CheckStatus::kWarn, "warn"},
    {CheckStatus::kFail, "fail"},
    {CheckStatus::kCannotTell, "cannot_tell"},
}};

int severity(CheckStatus status) noexcept {
  switch (status) {
    case CheckStatus::kPass:
      return 0;
    case CheckStatus::kCannotTell:
      return 1;
    case CheckStatus::kWarn:
      return 2;
    case CheckStatus::kFail:
      return 3;
  }
  return 0;
}

bool comes_first(const Finding& a, const Finding& b) {
  if (a.gain.has_value() != b.gain.has_value()) return a.gain.has_value();
  if (a.gain && a.gain->middle() != b.gain->middle()) return a.gain->middle() > b.gain->middle();
  return severity(a.status) > severity(b.status);
}

}  // namespace

std::string_view name_of(CheckStatus status) noexcept {
  for (const auto& [known, name] : kNames)
    if (known == status) return name;
  return {};
}

std::optional<CheckStatus> status_named(std::string_view name) noexcept {
  for (const auto& [status, known] : kNames)
    if (known == name) return status;
  return std::nullopt;
}

CheckStatus worst_of(const std::vector<Finding>& findings) noexcept {
  CheckStatus worst = CheckStatus::kPass;
  for (const Finding& one : findings)
    if (severity(one.status) > severity(worst)) worst = one.status;
  return worst;
}

Advice advise(const std::vector<Check>& checks) {
  Advice advice;
  for (const Check& check : checks) {
    for (const Finding& finding : check.findings) {
      if (severity(finding.status) >= severity(CheckStatus::kWarn))
        advice.issues.push_back(finding);
      if (!finding.remedy.empty()) advice.recommendations.push_back(finding);
    }
  }
  std::ranges::stable_sort(advice.issues, [](const Finding& a, const Finding& b) {
    return severity(a.status) > severity(b.status);
  });
  std::ranges::stable_sort(advice.recommendations, comes_first);
  // Several findings may have one remedy. Its first place is the one with the largest gain.
  std::set<std::pair<std::string, std::string>> remedies;
  std::erase_if(advice.recommendations, [&](const Finding& finding) {
    return !remedies.emplace(finding.place, finding.remedy).second;
  });
  std::set<std::string> keys;
  for (const Finding& finding : advice.recommendations) {
    for (const ConfigChange& change : finding.changes)
      if (keys.insert(change.key).second) advice.changes.push_back(change);
  }
  return advice;
}

}  // namespace xtts::doctor
