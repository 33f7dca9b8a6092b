#include "doctor/doctor_page.hpp"

#include <algorithm>
#include <utility>

#include "report/html_page.hpp"
#include "report/human.hpp"

namespace xtts::doctor {
namespace {

using report::HtmlChanges;
using report::HtmlFacts;
using report::HtmlItem;
using report::HtmlList;
using report::HtmlPage;
using report::HtmlSection;
using report::HtmlStatus;
using report::HtmlText;
using report::HtmlTone;

// This check answers the question for which the doctor is asked.
constexpr std::string_view kMainCheck = "will_it_help";

HtmlStatus shown_status(CheckStatus status) {
  switch (status) {
    case CheckStatus::kPass:
      return {HtmlTone::kGood, "pass"};
    case CheckStatus::kWarn:
      return {HtmlTone::kWarn, "warn"};
    case CheckStatus::kFail:
      return {HtmlTone::kBad, "fail"};
    case CheckStatus::kCannotTell:
      break;
  }
  return {HtmlTone::kUnknown, "cannot tell"};
}

std::string gain_in_words(const Gain& gain) {
  const std::string low = report::format_fixed(gain.low, 1);
  const std::string high = report::format_fixed(gain.high, 1);
  return (low == high ? low : low + " to " + high) + " times as fast";
}

std::vector<HtmlStatus> counts_of(const std::vector<Check>& checks) {
  std::vector<HtmlStatus> counts;
  for (const CheckStatus status :
       {CheckStatus::kFail, CheckStatus::kWarn, CheckStatus::kCannotTell, CheckStatus::kPass}) {
    const auto count = std::ranges::count(checks, status, &Check::status);
    if (count == 0) continue;
    HtmlStatus shown = shown_status(status);
    shown.word = std::to_string(count) + " " + shown.word;
    counts.push_back(std::move(shown));
  }
  return counts;
}

void set_verdict(const std::vector<Check>& checks, HtmlPage& page) {
  const auto main = std::ranges::find(checks, kMainCheck, &Check::name);
  if (main != checks.end()) {
    page.status = shown_status(main->status);
    page.verdict = main->summary;
    page.charts = main->charts;
    return;
  }
  std::vector<Finding> worst;
  for (const Check& check : checks) worst.push_back({.status = check.status});
  const CheckStatus status = worst_of(worst);
  page.status = shown_status(status);
  if (checks.empty()) {
    page.status = shown_status(CheckStatus::kCannotTell);
    page.verdict = "Nothing was checked.";
    return;
  }
  if (status == CheckStatus::kPass) {
    page.verdict = "Nothing was found that holds training back.";
    return;
  }
  page.verdict = std::ranges::find(checks, status, &Check::status)->summary;
}

HtmlSection recommendations_of(const Advice& advice) {
  HtmlSection section{.title = "What to do, most useful first"};
  HtmlList list{.is_numbered = true};
  report::BarsChart gains{.unit = "×", .levels = {{"as now", 1.0}}};
  for (const Finding& finding : advice.recommendations) {
    HtmlItem item{.text = finding.remedy, .place = finding.place};
    if (finding.gain) {
      item.gain = gain_in_words(*finding.gain);
      item.note = finding.gain->basis;
      gains.bars.push_back({.label = std::to_string(list.items.size() + 1) + ". " + finding.remedy,
                            .value = finding.gain->middle(),
                            .low = finding.gain->low,
                            .high = finding.gain->high});
    }
    list.items.push_back(std::move(item));
  }
  if (list.items.empty()) {
    section.blocks.emplace_back(HtmlText{"Nothing was found that holds training back."});
    return section;
  }
  section.blocks.emplace_back(std::move(list));
  if (gains.bars.size() > 1)
    section.blocks.emplace_back(report::Chart{.title = "Expected speed of training",
                                              .note = "times as fast, each change alone",
                                              .content = std::move(gains)});
  return section;
}

HtmlSection changes_of(const Advice& advice) {
  HtmlChanges changes;
  for (const ConfigChange& change : advice.changes)
    changes.changes.push_back({change.key, change.before, change.after, change.reason});
  return {.title = "Changes of config.yaml", .blocks = {std::move(changes)}};
}

HtmlSection section_of(const Check& check) {
  HtmlSection section{.title = check.title,
                      .status = shown_status(check.status),
                      .summary = check.summary,
                      .is_folded = true};
  HtmlList findings;
  for (const Finding& finding : check.findings) {
    // The summary is most often the first finding's text.
    const bool is_said = finding.text == check.summary && finding.place.empty();
    if (is_said && finding.remedy.empty()) continue;
    HtmlItem item{.status = shown_status(finding.status),
                  .text = is_said ? finding.remedy : finding.text,
                  .place = finding.place};
    const std::string gain = finding.gain ? "(" + gain_in_words(*finding.gain) + ")" : "";
    const std::string remedy = is_said ? "" : finding.remedy;
    item.note = remedy + (remedy.empty() || gain.empty() ? "" : " ") + gain;
    findings.items.push_back(std::move(item));
  }
  if (!findings.items.empty()) section.blocks.emplace_back(std::move(findings));
  if (check.name != kMainCheck) {
    for (const report::Chart& chart : check.charts) section.blocks.emplace_back(chart);
  }
  HtmlFacts facts;
  for (const Evidence& one : check.evidence)
    facts.facts.push_back({one.what, one.value, one.source});
  if (!facts.facts.empty()) section.blocks.emplace_back(std::move(facts));
  if (section.blocks.empty())
    section.blocks.emplace_back(HtmlText{"Nothing more is known about this."});
  return section;
}

}  // namespace

std::string doctor_page(const PageFacts& facts, const std::vector<Check>& checks) {
  const Advice advice = advise(checks);
  HtmlPage page{.title = facts.title.empty() ? "Why does the GPU wait?" : facts.title,
                .aside = facts.date,
                .counts = counts_of(checks)};
  set_verdict(checks, page);
  page.sections.push_back(recommendations_of(advice));
  if (!advice.changes.empty()) page.sections.push_back(changes_of(advice));
  if (!checks.empty()) page.sections.push_back({.title = "What was checked"});
  for (const Check& check : checks) page.sections.push_back(section_of(check));
  if (!facts.machine.empty()) {
    HtmlList machine;
    for (const std::string& fact : facts.machine) machine.items.push_back({.text = fact});
    page.sections.push_back({.title = "The machine", .blocks = {std::move(machine)}});
  }
  page.footer = report::format_list(facts.versions);
  return report::html_page(page);
}

}  // namespace xtts::doctor
