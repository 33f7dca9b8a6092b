#include "request/verify_json.hpp"

#include "request/option_values.hpp"
#include "request/verify_words.hpp"

namespace xtts::request {
namespace {

using nlohmann::json;

json finding_to_json(const verify::Finding& finding) {
  json out = {{"file", finding.file},
              {"what", what_of(finding)},
              {"check", verify::name_of(finding.check)},
              {"outcome", verify::name_of(finding.outcome)},
              {"part", json()},
              {"clip", json()},
              {"column", json()},
              {"offset", json()},
              {"expected", words_of(finding.expected)},
              {"expected_kind", finding.expected.kind},
              {"found", words_of(finding.found)},
              {"found_kind", finding.found.kind},
              {"cure", verify::name_of(finding.remedy)}};
  if (finding.offset_bytes) out["offset"] = *finding.offset_bytes;
  if (!finding.part.empty()) out["part"] = finding.part;
  if (!finding.clip.empty()) out["clip"] = finding.clip;
  if (!finding.column.empty()) out["column"] = finding.column;
  return out;
}

}  // namespace

json to_json(const verify::Report& report) {
  json findings = json::array();
  for (const verify::Finding& finding : report.findings)
    findings.push_back(finding_to_json(finding));
  json repaired = json::array();
  for (const verify::RepairedFile& repair : report.repaired) {
    repaired.push_back({{"file", repair.file},
                        {"what", words_of(repair)},
                        {"what_kind", repair.done.kind},
                        {"recomputed", repair.recomputed_count}});
  }
  const bool deep = report.level == verify::Level::kDeep;
  const std::string comparison = words_of(report.comparison);
  return {{"ok", report.ok},
          {"level", kLevelNames.at(static_cast<std::size_t>(report.level))},
          {"findings", findings},
          {"finding_count", report.finding_count},
          {"repaired", repaired},
          {"remedy", report.remedy ? json(command_of(*report.remedy)) : json()},
          {"remedy_note", report.remedy ? json(note_of(*report.remedy)) : json()},
          {"recomputed", deep ? json(report.comparison.count()) : json()},
          {"sampled_of", deep ? json(report.sampled_of) : json()},
          {"comparison", comparison.empty() ? json() : json(comparison)},
          {"shards", report.shard_count},
          {"clips", report.clip_count},
          {"records", report.record_count},
          {"bytes", report.bytes_checked},
          {"seconds", report.seconds}};
}

}  // namespace xtts::request
