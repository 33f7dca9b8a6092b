#include "doctor/config_fix.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/try.hpp"
#include "doctor/config_check.hpp"
#include "doctor/config_file.hpp"
#include "doctor/trainer_fields.hpp"
#include "doctor/yaml_edit.hpp"

namespace xtts::doctor {
namespace {

// A mend may uncover another fault: graph mode that is on again needs static shapes.
constexpr int kRoundsMax = 8;
// Each change parses the text twice. The trainer has 203 keys, so a file with so many faults is
// none of its own.
constexpr std::size_t kChangesMax = 400;

ValueStyle style_of(const std::string& key) {
  const TrainerField* field = find_trainer_field(key);
  return field != nullptr && field->kind == FieldKind::kText ? ValueStyle::kText
                                                             : ValueStyle::kPlain;
}

Result<std::string> apply(const std::string& text, const std::string& origin,
                          const ConfigChange& change) {
  if (change.after.empty()) return remove_yaml_key(text, origin, change.key);
  return set_yaml_value(text, origin, change.key, change.after, style_of(change.key));
}

// Gives one change for each key, though several rounds may have changed it.
void note(std::vector<ConfigChange>& changes, const ConfigChange& change) {
  const auto earlier = std::ranges::find(changes, change.key, &ConfigChange::key);
  if (earlier == changes.end()) {
    changes.push_back(change);
  } else {
    earlier->after = change.after;
    earlier->reason = change.reason;
  }
}

// The edits of one fix_config(), which only a text sees until all are made.
class Mender {
 public:
  Mender(std::string text, const std::string& origin) : text_(std::move(text)), origin_(origin) {}

  [[nodiscard]] const std::string& text() const { return text_; }

  // Applies what a check found. False: it changed nothing. What is refused in one round may be
  // possible in the next, so the last round's refusals count.
  bool apply_all(const Check& check, ConfigFix& fix) {
    std::set<std::string> touched;
    fix.refused.clear();
    const std::string before = text_;
    for (const Finding& finding : check.findings) {
      const bool is_done = std::ranges::any_of(finding.changes, [&](const ConfigChange& change) {
        return touched.contains(change.key);
      });
      if (is_done || !apply_one(finding, fix)) continue;
      for (const ConfigChange& change : finding.changes) {
        touched.insert(change.key);
        note(fix.changes, change);
      }
    }
    return text_ != before;
  }

 private:
  // Applies all changes of a finding, or none: a key that moves must not stand twice.
  bool apply_one(const Finding& finding, ConfigFix& fix) {
    std::string made = text_;
    for (const ConfigChange& change : finding.changes) {
      auto next = apply(made, origin_, change);
      if (!next.ok()) {
        const std::string reason = next.status().message();
        if (std::ranges::find(fix.refused, reason) == fix.refused.end())
          fix.refused.push_back(reason);
        return false;
      }
      made = std::move(*next);
    }
    text_ = std::move(made);
    return !finding.changes.empty();
  }

  std::string text_;
  const std::string& origin_;
};

}  // namespace

Result<ConfigFix> fix_config(Env& env, const std::string& path, const ConfigSituation& situation) {
  XTTS_ASSIGN(const std::string before, read_text_file(env, path, recipe::kYamlBytesMax));
  ConfigFix fix;
  Mender mender(before, path);
  for (int round = 0; round < kRoundsMax; ++round) {
    XTTS_ASSIGN(fix.check, check_config_text(env, mender.text(), path, situation));
    std::size_t count = 0;
    for (const Finding& finding : fix.check.findings) count += finding.changes.size();
    if (count > kChangesMax)
      return Status(StatusCode::kInvalidArgument,
                    path + ": " + std::to_string(count) +
                        " changes would be needed, so it is not the trainer's config.yaml");
    if (!mender.apply_all(fix.check, fix)) break;
  }
  if (mender.text() == before) return fix;
  XTTS_ASSIGN(fix.backup, replace_config(env, path, before, mender.text()));
  XTTS_ASSIGN(fix.check, check_config(env, path, situation));
  return fix;
}

}  // namespace xtts::doctor
