#include "doctor/config_keys.hpp"

#include <algorithm>
#include <string>

#include "base/env.hpp"
#include "base/nearest_name.hpp"
#include "doctor/trainer_fields.hpp"
#include "doctor/yaml_scalar.hpp"
#include "report/human.hpp"

namespace xtts::doctor {
namespace {

using recipe::YamlNode;
using Kind = YamlNode::Kind;

// A value that fits the field's type, made of what a person has probably meant. Empty: none.
std::string meant(const TrainerField& field, const YamlNode& value) {
  switch (field.kind) {
    case FieldKind::kInt:
      return as_int(value.text);
    case FieldKind::kFloat:
      return as_float(value.text);
    case FieldKind::kBool: {
      const auto flag = bool_of_plain(value.text);
      return !flag ? "" : *flag ? "true" : "false";
    }
    case FieldKind::kText:
      return value.text;
    case FieldKind::kList:
    case FieldKind::kMap:
      break;
  }
  return {};
}

std::string_view needed(FieldKind kind) {
  switch (kind) {
    case FieldKind::kInt:
      return "a whole number";
    case FieldKind::kFloat:
      return "a number";
    case FieldKind::kBool:
      return "true or false";
    case FieldKind::kText:
      return "a text";
    case FieldKind::kList:
      return "a list";
    case FieldKind::kMap:
      return "a section";
  }
  return "another value";
}

bool fits(const TrainerField& field, const YamlNode& value) {
  if (field.kind == FieldKind::kList) return value.kind == Kind::kList;
  if (field.kind == FieldKind::kMap) return value.kind == Kind::kMap;
  if (value.kind != Kind::kScalar) return false;
  const ScalarKind kind = value.quoted ? ScalarKind::kText : kind_of_plain(value.text);
  switch (field.kind) {
    case FieldKind::kInt:
      return kind == ScalarKind::kInt;
    case FieldKind::kFloat:
      return kind == ScalarKind::kInt || kind == ScalarKind::kFloat;
    case FieldKind::kBool:
      return kind == ScalarKind::kBool;
    case FieldKind::kText:
      return kind == ScalarKind::kText;
    case FieldKind::kList:
    case FieldKind::kMap:
      break;
  }
  return false;
}

// What PyYAML makes of a scalar.
std::string_view found(const YamlNode& value) {
  if (value.kind == Kind::kNull) return "nothing";
  if (value.kind != Kind::kScalar) return describe(value);
  switch (value.quoted ? ScalarKind::kText : kind_of_plain(value.text)) {
    case ScalarKind::kNull:
      return "nothing";
    case ScalarKind::kBool:
      return "true or false";
    case ScalarKind::kInt:
      return "a whole number";
    case ScalarKind::kFloat:
      return "a number with a fraction";
    case ScalarKind::kText:
      return "a text";
  }
  return "another value";
}

bool is_null(const YamlNode& value) {
  return value.kind == Kind::kNull || (value.kind == Kind::kScalar && !value.quoted &&
                                       kind_of_plain(value.text) == ScalarKind::kNull);
}

// True where a tab stands outside of quotes and comments, as far as one line tells.
bool has_bare_tab(std::string_view line) {
  char quote = 0;
  char before = ' ';
  for (const char c : line) {
    const bool is_after_blank = before == ' ' || before == '\t';
    before = c;
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\t') {
      return true;
    } else if (is_after_blank && (c == '"' || c == '\'')) {
      quote = c;
    } else if (is_after_blank && c == '#') {
      return false;
    }
  }
  return false;
}

class KeyJudge {
 public:
  explicit KeyJudge(const ConfigFacts& facts) : facts_(facts) {}

  // Our parser takes tabs between words, and PyYAML does not.
  void judge_tabs(std::string_view text) {
    std::uint32_t number = 1;
    for (std::size_t from = 0; from < text.size(); ++number) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      if (has_bare_tab(text.substr(from, end - from))) {
        add(CheckStatus::kWarn, {.name = "", .line = number},
            "This line has a tab. PyYAML stops at it, unless it belongs to a text of several "
            "lines.",
            "Write blanks.");
        return;
      }
      from = end + 1;
    }
  }

  void judge_keys() {
    for (const GivenKey& section : facts_.empty_sections()) judge_empty_section(section);
    for (const GivenKey& key : facts_.given()) {
      if (key.first_line) judge_double(key);
      const std::size_t dot = key.name.find('.');
      const TrainerField* field = find_trainer_field(key.name);
      if (is_at_top(key)) {
        judge_top(key);
      } else if (field == nullptr) {
        judge_unknown(key, key.name.substr(0, dot), key.name.substr(dot + 1));
      } else {
        judge_type(key, *field);
        if (field->use == FieldUse::kUnused) unused_.push_back(key.name);
      }
    }
  }

  std::vector<Finding> finish() && {
    if (!unused_.empty()) {
      findings_.push_back({.status = CheckStatus::kPass,
                           .text = "The trainer does nothing with these keys: " +
                                   report::format_list(unused_) + "." + buffer_note(),
                           .place = std::string(file_name(facts_.origin()))});
    }
    return std::move(findings_);
  }

 private:
  [[nodiscard]] static bool is_at_top(const GivenKey& key) {
    return key.name.find('.') == std::string::npos ||
           std::ranges::none_of(trainer_sections(), [&](const std::string& section) {
             return key.name.starts_with(section + ".");
           });
  }

  Finding& add(CheckStatus status, const GivenKey& key, std::string text, std::string remedy) {
    findings_.push_back(
        {.status = status,
         .text = std::move(text),
         .remedy = std::move(remedy),
         .place = std::string(file_name(facts_.origin())) + ":" + std::to_string(key.line)});
    return findings_.back();
  }

  void add_change(Finding& finding, std::string_view key, std::string_view after) {
    finding.changes.push_back(change_of(facts_, key, after, finding.text));
  }

  void judge_empty_section(const GivenKey& section) {
    Finding& finding =
        add(CheckStatus::kFail, section,
            "The section " + section.name + " is empty, and the trainer stops at it.",
            "Take its line out: the trainer then has its defaults.");
    add_change(finding, section.name, "");
  }

  void judge_double(const GivenKey& key) {
    add(CheckStatus::kFail, key,
        key.name + " stands twice, first on line " + std::to_string(*key.first_line) +
            ". The trainer takes the last.",
        "Take one of the lines out.");
  }

  void judge_top(const GivenKey& key) {
    for (const std::string& section : trainer_sections()) {
      if (find_trainer_field(section + "." + key.name) == nullptr) continue;
      add(CheckStatus::kWarn, key,
          key.name + " stands outside of the sections, so the trainer does not see it.",
          "Move it into the section " + section + ".");
      return;
    }
    const std::string nearest = nearest_of(key.name, trainer_sections());
    add(CheckStatus::kWarn, key,
        "The trainer reads the sections model, data and training, and not " + key.name + ".",
        nearest.empty() ? "" : "Did you mean " + nearest + "?");
  }

  // The trainer's dataclasses refuse a key that they do not have.
  void judge_unknown(const GivenKey& key, const std::string& section, const std::string& name) {
    const std::string stops =
        key.name + " is no key of the trainer, which stops at it (TypeError).";
    if (key.name == kLauncherKey && !facts_.situation().is_for_trainer) {
      add(CheckStatus::kPass, key,
          "This file is for the launcher: the trainer alone stops at `" + name + "`.",
          "Start the trainer by python -m xtts_precompute.myxtts --cache CACHE. --fix --for "
          "trainer "
          "makes the line a comment.");
      return;
    }
    if (const std::string_view home = home_of_foreign_key(key.name); !home.empty()) {
      Finding& finding =
          add(CheckStatus::kFail, key, stops + " " + std::string(home), "Take the line out.");
      add_change(finding, key.name, "");
      return;
    }
    for (const std::string& other : trainer_sections()) {
      const std::string full = other + "." + name;
      if (other == section || find_trainer_field(full) == nullptr) continue;
      judge_misplaced(key, full, stops);
      return;
    }
    std::vector<std::string> names;
    for (const TrainerField& field : trainer_fields()) {
      if (field.name.starts_with(section + "."))
        names.emplace_back(field.name.substr(section.size() + 1));
    }
    const std::string nearest = nearest_of(name, names);
    if (!nearest.empty()) {
      // Which of the two names was meant is a guess, so nobody but a person may change it.
      add(CheckStatus::kFail, key, stops,
          "Did you mean " + section + "." + nearest + "? Correct the name, or take the line out.");
      return;
    }
    Finding& finding = add(CheckStatus::kFail, key, stops, "Take the line out.");
    add_change(finding, key.name, "");
  }

  void judge_misplaced(const GivenKey& key, const std::string& full, const std::string& stops) {
    const bool is_single = key.value->kind == Kind::kScalar;
    if (const GivenKey* given = facts_.find(full)) {
      const bool is_same =
          is_single && given->value->kind == Kind::kScalar && given->value->text == key.value->text;
      Finding& finding =
          add(CheckStatus::kFail, key,
              stops + " " + full + " is, and has " +
                  (is_same ? "the same value." : "another value: " + facts_.text(full) + "."),
              "Take the line out.");
      add_change(finding, key.name, "");
      return;
    }
    Finding& finding =
        add(CheckStatus::kFail, key, stops + " " + full + " is.", "Move the line: " + full + ".");
    if (!is_single) return;
    add_change(finding, full, key.value->text);
    add_change(finding, key.name, "");
  }

  void judge_type(const GivenKey& key, const TrainerField& field) {
    const YamlNode& value = *key.value;
    if (value.kind == Kind::kAlias || value.kind == Kind::kTagged) {
      add(CheckStatus::kCannotTell, key,
          key.name + " is " + std::string(describe(value)) + ", whose value was not judged.",
          "Write the value out.");
      return;
    }
    if (is_null(value)) {
      if (field.null == FieldNull::kMayBeNull) return;
      Finding& finding =
          add(CheckStatus::kFail, key,
              key.name + " is empty, and " + std::string(needed(field.kind)) + " is needed.",
              "Take the line out: the trainer's default is " + std::string(field.trainer_default) +
                  ".");
      add_change(finding, key.name, "");
      return;
    }
    if (fits(field, value)) return;
    const std::string mended = value.kind == Kind::kScalar ? meant(field, value) : std::string();
    const std::string shown = value.kind == Kind::kScalar ? " " + value.text : std::string();
    Finding& finding = add(CheckStatus::kFail, key,
                           key.name + shown + " is " + std::string(found(value)) +
                               " to PyYAML, and " + std::string(needed(field.kind)) + " is needed.",
                           mended.empty() ? "Write " + std::string(needed(field.kind)) + "."
                                          : "Write it as " + shown_mend(field, mended) + ".");
    if (!mended.empty()) add_change(finding, key.name, mended);
  }

  static std::string shown_mend(const TrainerField& field, const std::string& mended) {
    return field.kind == FieldKind::kText ? "\"" + mended + "\"" : mended;
  }

  [[nodiscard]] std::string buffer_note() const {
    const bool names_it = std::ranges::find(unused_, "data.prefetch_buffer_size") != unused_.end();
    return names_it ? " data.pipeline_buffer_size is the buffer that it reads." : "";
  }

  const ConfigFacts& facts_;
  std::vector<Finding> findings_;
  std::vector<std::string> unused_;
};

}  // namespace

std::vector<Finding> judge_keys(const ConfigFacts& facts, std::string_view text) {
  KeyJudge judge(facts);
  judge.judge_tabs(text);
  judge.judge_keys();
  return std::move(judge).finish();
}

ConfigChange change_of(const ConfigFacts& facts, std::string_view key, std::string_view after,
                       std::string_view reason) {
  const bool is_section = key.find('.') == std::string_view::npos;
  std::string before = facts.is_given(key) || is_section ? facts.text(key) : std::string();
  // What is no key of the trainer may be a secret of another program.
  if (!before.empty() && !is_section && find_trainer_field(key) == nullptr) before = kNotShown;
  return {.key = std::string(key),
          .before = std::move(before),
          .after = std::string(after),
          .reason = std::string(reason)};
}

}  // namespace xtts::doctor
