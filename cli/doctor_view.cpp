#include "cli/doctor_view.hpp"

#include <algorithm>
#include <sstream>

#include "report/human.hpp"
#include "report/table.hpp"

namespace xtts::cli {
namespace {

using doctor::Check;
using doctor::CheckStatus;
using doctor::Finding;
using report::escape_controls;

constexpr std::size_t kLabelWidth = 8;
constexpr std::size_t kChangesShown = 20;

std::string label_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::kPass:
      return "pass";
    case CheckStatus::kWarn:
      return "WARN";
    case CheckStatus::kFail:
      return "FAIL";
    case CheckStatus::kCannotTell:
      break;
  }
  return "?";
}

// The first check answers a question, so its label is the answer.
std::string label_of(const Check& check) {
  if (check.name == "will_it_help" && check.status != CheckStatus::kCannotTell) {
    for (const std::string_view answer : {"Yes", "No", "Perhaps"})
      if (check.summary.starts_with(answer)) return std::string(answer);
  }
  return label_of(check.status);
}

// The next word; a command in backticks is one, so that it can be copied from one line.
bool next_word(std::istream& words, std::string& word) {
  if (!(words >> word)) return false;
  std::string more;
  while (std::ranges::count(word, '`') % 2 != 0 && words >> more) word += " " + more;
  return true;
}

// Breaks a text between words. Every line begins with `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  const std::string margin(indent, ' ');
  const std::size_t room = width > indent + 20 ? width - indent : 20;
  std::string lines;
  std::string line;
  std::istringstream words{escape_controls(text)};
  for (std::string word; next_word(words, word);) {
    const bool is_full =
        !line.empty() && report::display_width(line) + 1 + report::display_width(word) > room;
    if (is_full) {
      lines += margin + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? lines : lines + margin + line + "\n";
}

std::string gain_of(const Finding& finding) {
  if (!finding.gain) return {};
  const std::string low = report::format_fixed(finding.gain->low, 1);
  const std::string high = report::format_fixed(finding.gain->high, 1);
  return " (" + (low == high ? low : low + " to " + high) + " times as fast; " +
         finding.gain->basis + ")";
}

std::string describe_evidence(const Check& check, std::size_t width) {
  std::string text;
  for (const doctor::Evidence& one : check.evidence)
    text += wrapped(one.what + ": " + one.value + " (" + one.source + ")", kLabelWidth + 2, width);
  return text;
}

std::string describe_check(const Check& check, Evidence evidence, std::size_t width) {
  std::string label = label_of(check);
  label.resize(kLabelWidth, ' ');
  std::string text = label + check.title + "\n" + wrapped(check.summary, kLabelWidth, width);
  // The summary is most often the first finding's text.
  for (const Finding& finding : check.findings) {
    if (finding.text == check.summary) continue;
    const std::string place = finding.place.empty() ? "" : finding.place + ": ";
    text += wrapped("- " + place + finding.text, kLabelWidth, width);
  }
  const bool is_problem = check.status == CheckStatus::kWarn || check.status == CheckStatus::kFail;
  const bool is_verdict = check.name == "will_it_help";
  if (evidence == Evidence::kAll || is_problem || is_verdict)
    text += describe_evidence(check, width);
  return text + "\n";
}

std::string describe_advice(const doctor::Advice& advice, const std::string& config,
                            std::size_t width) {
  std::string text;
  if (!advice.recommendations.empty()) {
    text += "What to do, most useful first:\n";
    std::size_t number = 0;
    for (const Finding& finding : advice.recommendations) {
      const std::string place = finding.place.empty() ? "" : finding.place + ": ";
      text += wrapped(std::to_string(++number) + ". " + place + finding.remedy + gain_of(finding),
                      2, width);
    }
  }
  if (advice.changes.empty()) return text;
  text += config.empty()
              ? "Changes of the trainer's configuration:\n"
              : "Changes of " + escape_controls(config) + ", which --quick-fix writes:\n";
  report::Table table({report::Align::kLeft, report::Align::kLeft, report::Align::kLeft});
  for (const doctor::ConfigChange& change : advice.changes) {
    if (&change - advice.changes.data() == kChangesShown) break;
    table.add_row({escape_controls(change.key),
                   (change.before.empty() ? "" : escape_controls(change.before) + " ") + "-> " +
                       escape_controls(change.after),
                   escape_controls(change.reason)});
  }
  return text + table.render(2, width);
}

}  // namespace

std::string describe_diagnosis(const doctor::Diagnosis& diagnosis, Evidence evidence,
                               std::size_t width) {
  std::string text = wrapped(report::format_list(diagnosis.machine), 0, width) + "\n";
  for (const Check& check : diagnosis.checks) text += describe_check(check, evidence, width);
  const doctor::Advice advice = doctor::advise(diagnosis.checks);
  const std::string what_to_do = describe_advice(advice, diagnosis.config, width);
  if (!what_to_do.empty()) return text + what_to_do;
  const bool is_judged = std::ranges::any_of(diagnosis.checks, [](const Check& check) {
    return check.status != CheckStatus::kCannotTell;
  });
  return text + (is_judged ? "Nothing was found that holds training back.\n"
                           : "Nothing could be judged.\n");
}

}  // namespace xtts::cli
