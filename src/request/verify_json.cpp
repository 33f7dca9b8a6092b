#include "request/verify_json.hpp"

namespace xtts::request {
namespace {

using nlohmann::json;

const char* name_of(verify::Level level) {
  switch (level) {
    case verify::Level::kQuick:
      return "quick";
    case verify::Level::kFull:
      return "full";
    case verify::Level::kDeep:
      return "deep";
  }
  return "";
}

json finding_to_json(const verify::Finding& finding) {
  json out = {{"file", finding.file},
              {"what", finding.what()},
              {"check", verify::name_of(finding.check)},
              {"outcome", verify::name_of(finding.outcome)},
              {"part", json()},
              {"clip", json()},
              {"column", json()},
              {"offset", json()},
              {"expected", finding.expected},
              {"found", finding.found},
              {"cure", verify::name_of(finding.cure)}};
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
  for (const verify::Mended& mended : report.repaired) {
    repaired.push_back(
        {{"file", mended.file}, {"what", mended.what}, {"recomputed", mended.recomputed_count}});
  }
  const bool deep = report.level == verify::Level::kDeep;
  return {{"ok", report.ok},
          {"level", name_of(report.level)},
          {"findings", findings},
          {"finding_count", report.finding_count},
          {"repaired", repaired},
          {"remedy", report.remedy ? json(report.remedy->command) : json()},
          {"remedy_note", report.remedy ? json(report.remedy->note) : json()},
          {"recomputed", deep ? json(report.recomputed_count) : json()},
          {"sampled_of", deep ? json(report.sampled_of) : json()},
          {"comparison", report.comparison.empty() ? json() : json(report.comparison)},
          {"shards", report.shard_count},
          {"clips", report.clip_count},
          {"records", report.record_count},
          {"bytes", report.bytes_checked},
          {"seconds", report.seconds}};
}

}  // namespace xtts::request
