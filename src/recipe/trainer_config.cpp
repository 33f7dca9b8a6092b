// The trainer's config.yaml over a recipe. Unlike a recipe file it is not ours: what we do not know
// is named, not refused.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "recipe/key_table.hpp"
#include "recipe/message.hpp"
#include "recipe/recipe_file.hpp"
#include "recipe/trainer_keys.hpp"
#include "recipe/trainer_sound.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::recipe {
namespace {

using Kind = YamlNode::Kind;

struct Entry {
  std::string name;  // "data.n_mels"
  std::uint32_t line;
  const YamlNode* node;
  bool misplaced = false;  // a key of data: that stands at the top
};

// An empty value is what the trainer's own dump writes for "not set".
bool is_unset(const YamlNode& node) {
  return node.kind == Kind::kNull || (node.kind == Kind::kScalar && node.text.empty()) ||
         (node.kind == Kind::kList && node.items.empty());
}

// PyYAML follows YAML 1.1, which the trainer's authors may have used to the full.
std::optional<bool> yaml_1_1_switch(const YamlNode& node) {
  if (node.kind != Kind::kScalar || node.quoted) return std::nullopt;
  std::string word = node.text;
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return std::nullopt;
}

bool asks_for_it(When when, const YamlNode& node) {
  switch (when) {
    case When::kAlways:
      return true;
    case When::kTrue:
      return yaml_1_1_switch(node).value_or(false);
    case When::kNotEmpty:
      return !is_unset(node);
  }
  return true;
}

// Python names groups (?P<name>...); the regular expressions here count them.
std::string without_group_names(std::string pattern) {
  for (std::size_t at = pattern.find("(?P<"); at != std::string::npos;
       at = pattern.find("(?P<", at)) {
    const std::size_t end = pattern.find('>', at);
    if (end == std::string::npos) break;
    pattern.erase(at + 1, end - at);
  }
  return pattern;
}

class TrainerReader {
 public:
  TrainerReader(Env& env, std::string_view origin, formats::Recipe base)
      : files_{env, "."}, origin_(origin), base_(base), recipe_(std::move(base)) {}

  Result<TrainerConfig> read(const YamlNode& root) {
    collect(root);
    set_all();
    read_sound_switches();
    if (problems_.empty()) finish_recipe();
    if (!problems_.empty()) return Status(StatusCode::kInvalidArgument, join_lines(problems_));
    TrainerConfig config{recipe_, {}};
    for (const Entry& entry : entries_) {
      TrainerKey& key = config.keys.emplace_back(describe_entry(entry));
      if (!is_unset(*entry.node)) {
        const bool is_text = entry.node->kind == Kind::kScalar;
        key.value = is_text ? entry.node->text : std::string(describe(*entry.node));
      }
      const TrainerRule* rule = find_trainer_rule(entry.name);
      if (rule != nullptr && key.kind == KeyClass::kHonoured) key.recipe_key = rule->recipe_key;
    }
    return config;
  }

 private:
  void collect(const YamlNode& root) {
    bool found = false;
    for (const YamlEntry& section : root.entries) {
      const bool ours = section.key == "data" || section.key == "model";
      found = found || ours;
      if (ours || section.key == "training") {
        collect_section(section);
      } else if (find_trainer_rule("data." + section.key) != nullptr) {
        entries_.push_back({section.key, section.line, &section.value, true});
      }
    }
    if (!found)
      problems_.push_back(std::string(origin_) +
                          ": neither 'data:' nor 'model:'; is it the trainer's config?");
  }

  void collect_section(const YamlEntry& section) {
    if (section.value.kind == Kind::kNull) return;
    if (section.value.kind != Kind::kMap) {
      add_problem(section.line, section.key + ": a section of keys, found " +
                                    std::string(describe(section.value)));
      return;
    }
    for (const YamlEntry& item : section.value.entries) {
      const Entry entry{section.key + "." + item.key, item.line, &item.value};
      const bool known = find_trainer_rule(entry.name) != nullptr;
      if (!known && section.key != "data") continue;
      if (const Entry* first = find(entry.name)) {
        add_problem(entry.line,
                    entry.name + ": given twice, first on line " + std::to_string(first->line));
      } else if (known && item.value.kind == Kind::kAlias) {
        add_problem(entry.line, entry.name + ": aliases are not read, write the value out");
      } else {
        entries_.push_back(entry);
      }
    }
  }

  void set_all() {
    for (const Entry& entry : entries_) {
      const TrainerRule* rule = find_trainer_rule(entry.name);
      if (rule == nullptr || rule->recipe_key.empty() || why_not_used(entry)) continue;
      set(entry, *find_key(rule->recipe_key));
    }
    sample_rate_and_trim_follow(base_, recipe_);
  }

  void set(const Entry& entry, const Key& key) {
    if (entry.node->kind != Kind::kScalar) {
      add_problem(entry.line, entry.name + ": takes " + key.takes + ", found " +
                                  std::string(describe(*entry.node)));
      return;
    }
    Scalar value{entry.node->text, entry.node->quoted ? ScalarForm::kQuoted : ScalarForm::kPlain};
    // 22_050 is a number in YAML 1.1.
    if (key.takes.find("number") != std::string::npos) std::erase(value.text, '_');
    if (entry.name == "data.speaker_id_pattern") value.text = without_group_names(value.text);
    const std::uint32_t tokens_before = recipe_.text.max_tokens;
    if (const std::string problem = key.set(recipe_, {value}, files_); !problem.empty()) {
      add_problem(entry.line, entry.name + ": " + problem);
    }
    // The trainer cuts at both limits, so the lower one holds.
    if (key.name == "text.max_tokens" && sets_.contains(key.name)) {
      recipe_.text.max_tokens = std::min(recipe_.text.max_tokens, tokens_before);
    }
    sets_.emplace(key.name, &entry);
  }

  // Why a key that has a place in the recipe stays out of it.
  [[nodiscard]] std::optional<std::string> why_not_used(const Entry& entry) const {
    if (entry.misplaced)
      return "the trainer reads this key under data: only, so it does nothing here either";
    if (is_unset(*entry.node)) return "not set";
    const Entry* multispeaker = find("data.enable_multispeaker");
    if (entry.name == "data.speaker_id_pattern" && multispeaker != nullptr &&
        !yaml_1_1_switch(*multispeaker->node).value_or(true)) {
      return "enable_multispeaker is false";
    }
    const TrainerRule* rule = find_trainer_rule(entry.name);
    if (rule == nullptr || rule->recipe_key.empty()) return std::nullopt;
    const std::string reason = why_ignored(*find_key(rule->recipe_key), recipe_);
    return reason.empty() ? std::nullopt : std::optional(reason);
  }

  [[nodiscard]] bool is_native() const { return base_.name == kNativeRecipe; }

  // Why the trainer does not come to a step that the key asks for.
  [[nodiscard]] std::optional<std::string> why_not_reached(const TrainerRule& rule,
                                                           const YamlNode& node) const {
    const bool of_sound = is_sound_switch(rule.name) || rule.name == "data.enable_vad" ||
                          rule.name == "data.enable_pitch_shift" ||
                          rule.name == "data.enable_noise_mixing";
    if (is_native() && of_sound)
      return "with use_tf_native_loading the trainer does not come to it";
    const std::uint32_t rate_hz = recipe_.features.sample_rate_hz;
    const bool silero_takes_it = rate_hz == 8000 || (rate_hz > 0 && rate_hz % 16000 == 0);
    if (rule.name == "data.enable_vad" && !silero_takes_it && asks_for_it(rule.when, node))
      return "the trainer turns it off at " + std::to_string(rate_hz) + " Hz";
    return std::nullopt;
  }

  void read_sound_switches() {
    switches_.trim = read_switch("data.trim_silence");
    switches_.normalize = read_switch("data.normalize_audio");
    switches_.loudness = read_switch("data.enable_loudness_normalization");
    if (!is_native()) apply_sound_switches(switches_, recipe_);
    if (const Entry* mode = find("data.preprocessing_mode");
        mode != nullptr && !is_unset(*mode->node)) {
      const std::string& text = mode->node->text;
      if (text != "auto" && text != "precompute" && text != "runtime") {
        add_problem(mode->line,
                    mode->name + ": '" + text + "' is none of auto | precompute | runtime");
      }
    }
  }

  std::optional<bool> read_switch(std::string_view name) {
    const Entry* entry = find(name);
    if (entry == nullptr || is_unset(*entry->node)) return std::nullopt;
    const auto value = yaml_1_1_switch(*entry->node);
    if (!value)
      add_problem(entry->line,
                  entry->name + ": '" + entry->node->text + "' is neither true nor false");
    return value;
  }

  // A problem of the recipe is told by the trainer's own key where that key caused it.
  void finish_recipe() {
    reset_ignored(recipe_);
    for (const std::string& problem : problems_of(recipe_)) {
      const std::string first_key = problem.substr(0, problem.find_first_of(":,"));
      const auto cause = sets_.find(first_key);
      if (cause == sets_.end()) {
        problems_.push_back(std::string(origin_) + ": " + problem);
      } else {
        add_problem(cause->second->line, cause->second->name + ": " + problem);
      }
    }
  }

  [[nodiscard]] TrainerKey describe_entry(const Entry& entry) const {
    const TrainerRule* rule = find_trainer_rule(entry.name);
    if (const auto reason = why_not_used(entry); reason)
      return {entry.name, KeyClass::kNoEffect, *reason};
    if (rule == nullptr) return describe_unknown(entry);
    if (const auto reason = why_not_reached(*rule, *entry.node); reason)
      return {entry.name, KeyClass::kNoEffect, *reason};
    if (is_native() && entry.name == "data.use_tf_native_loading")
      return {entry.name, KeyClass::kHonoured, "recipe " + std::string(kNativeRecipe)};
    if (is_sound_switch(entry.name)) return describe_sound_switch(entry.name, switches_, recipe_);
    if (rule->kind == KeyClass::kHonoured)
      return {entry.name, rule->kind, describe_honoured(*rule)};
    const bool asked = rule->kind == KeyClass::kNoEffect || asks_for_it(rule->when, *entry.node);
    if (!asked) return {entry.name, KeyClass::kNoEffect, "asks for nothing"};
    return {entry.name, rule->kind, std::string(rule->note)};
  }

  static TrainerKey describe_unknown(const Entry& entry) {
    std::vector<std::string> known;
    for (const TrainerRule& rule : trainer_rules()) {
      if (rule.name.starts_with("data.")) known.emplace_back(last_word(rule.name));
    }
    const std::string near = nearest_name(last_word(entry.name), known);
    return {entry.name, KeyClass::kNotReproduced,
            "unknown here" +
                (near.empty() ? std::string() : "; the nearest known key is data." + near)};
  }

  [[nodiscard]] std::string describe_honoured(const TrainerRule& rule) const {
    const Key& key = *find_key(rule.recipe_key);
    std::string note = key.name + " = " + key.print(recipe_).front();
    if (key.name == "features.sample_rate_hz" &&
        recipe_.features.mel.f_max_hz != base_.features.mel.f_max_hz) {
      note +=
          ", and features.mel.f_max_hz = " + Codec<double>::print(recipe_.features.mel.f_max_hz) +
          ", half of it";
    } else if (key.name == "features.max_frames") {
      note += "; features.too_long decides about longer clips, which the trainer cuts";
    } else if (key.name == "text.max_tokens") {
      note += sets_of_tokens() > 1 ? ", the lower of max_text_length and max_text_tokens" : "";
    }
    return note;
  }

  [[nodiscard]] int sets_of_tokens() const {
    return static_cast<int>(
        std::count_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
          const TrainerRule* rule = find_trainer_rule(entry.name);
          return rule != nullptr && rule->recipe_key == "text.max_tokens" && !why_not_used(entry);
        }));
  }

  [[nodiscard]] const Entry* find(std::string_view name) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.name == name; });
    return found == entries_.end() ? nullptr : &*found;
  }

  void add_problem(std::uint32_t line, const std::string& problem) {
    problems_.push_back(std::string(origin_) + ":" + std::to_string(line) + ": " + problem);
  }

  FileAccess files_;
  std::string_view origin_;
  formats::Recipe base_;
  formats::Recipe recipe_;
  SoundSwitches switches_;
  std::vector<Entry> entries_;                // in the file's order; none is added after collect()
  std::map<std::string, const Entry*> sets_;  // recipe key -> what set it first
  std::vector<std::string> problems_;
};

}  // namespace

Result<TrainerConfig> apply_trainer_config(Env& env, const std::string& path,
                                           formats::Recipe base) {
  XTTS_ASSIGN(const std::string yaml, read_text_file(env, path, kYamlBytesMax));
  XTTS_ASSIGN(const YamlNode root, read_yaml_map(yaml, path));
  return TrainerReader(env, path, std::move(base)).read(root);
}

}  // namespace xtts::recipe
