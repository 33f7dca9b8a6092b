#include "doctor/trace_check.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "doctor/json_values.hpp"
#include "report/human.hpp"

namespace xtts::doctor {
namespace {

using nlohmann::json;

constexpr std::uint64_t kBytesMax = std::uint64_t{4} << 20U;
constexpr double kMargin = 0.1;      // of other steps, to those that were traced
constexpr double kFailShare = 0.25;  // of a step
constexpr double kWaitMin = 0.15;    // of a step: what waits less is well fed

Status no_trace(const std::string& path, const std::string& why) {
  return {StatusCode::kInvalidArgument,
          path + " is no report of trace (" + why +
              "): write one with `xtts-precompute trace --out FILE -- python train.py`"};
}

std::vector<std::string> texts_at(const json& object, const char* key) {
  std::vector<std::string> texts;
  for (const json& text : list_at(object, key))
    if (text.is_string()) texts.push_back(text.get<std::string>());
  return texts;
}

Finding finding_of(const json& found) {
  const bool is_large = number_at(found, "share").value_or(0.0) >= kFailShare;
  Finding finding{.status = is_large ? CheckStatus::kFail : CheckStatus::kWarn,
                  .text = text_at(found, "title") + "."};
  for (const std::string& words : texts_at(found, "evidence"))
    finding.text += " Also: " + words + ".";
  finding.remedy = text_at(found, "remedy");
  finding.place = text_at(found, "file");
  if (const auto line = number_at(found, "line"))
    finding.place += ":" + std::to_string(static_cast<std::uint64_t>(std::max(*line, 0.0)));
  const auto gain = found.find("gain");
  const bool is_range = gain != found.end() && gain->is_array() && gain->size() == 2 &&
                        gain->at(0).is_number() && gain->at(1).is_number();
  if (is_range && gain->at(1) > 1.0)
    finding.gain = Gain{gain->at(0), gain->at(1), "measured by trace"};
  return finding;
}

}  // namespace

Result<json> read_trace(Env& env, const std::string& path) {
  XTTS_ASSIGN(const std::string text, read_text_file(env, path, kBytesMax));
  json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return no_trace(path, "it is no JSON object");
  const auto findings = document.find("findings");
  const bool has_findings = findings != document.end() && findings->is_array() &&
                            std::ranges::all_of(*findings, [](const json& one) {
                              return one.is_object() && one.contains("title");
                            });
  if (!has_findings || !document.contains("wait_ms"))
    return no_trace(path, "it has no findings and wait_ms");
  return document;
}

ProfileFacts profile_of(const json& trace) {
  ProfileFacts facts;
  const auto step = number_at(trace, "step_ms");
  const auto wait = number_at(trace, "wait_ms");
  if (!step || !(*step > 0.0)) return facts;
  facts.real_step_ms = Range{*step * (1.0 - kMargin), *step * (1.0 + kMargin)};
  if (!wait) return facts;
  facts.data_share = std::clamp(*wait / *step, 0.0, 1.0);
  const double own = std::max(*step - *wait, *step / 100.0);
  facts.step_ms = Range{own * (1.0 - kMargin), own * (1.0 + kMargin)};
  return facts;
}

Check check_trace(const json& trace) {
  Check check{.name = "trace", .title = "Calls of the training"};
  for (const json& found : trace.at("findings")) check.findings.push_back(finding_of(found));
  const auto step = number_at(trace, "step_ms");
  const auto wait = number_at(trace, "wait_ms");
  if (!step) {
    const auto notes = texts_at(trace, "notes");
    check.summary = notes.empty() ? "No training was traced." : notes.front();
    return check;
  }
  const double share = wait.value_or(0.0) / *step;
  for (const auto& [what, number] : {std::pair{"a step", step}, {"its wait for data", wait}}) {
    if (number)
      check.evidence.push_back({.what = what,
                                .value = report::format_short(*number) + " ms",
                                .source = "the trace",
                                .number = number,
                                .unit = "ms"});
  }
  check.status = worst_of(check.findings);
  if (!check.findings.empty()) {
    check.summary = report::format_counted(check.findings.size(), "call", "calls") +
                    " of the training take time that a step waits for.";
  } else if (wait && share < kWaitMin) {
    check.summary = "Its steps wait for nothing that a change would spare.";
  } else {
    check.status = CheckStatus::kCannotTell;
    check.summary = wait ? "Its steps wait for data, and no call was found that takes the time."
                         : "No call was found; how long its steps wait for data was not seen.";
  }
  return check;
}

}  // namespace xtts::doctor
