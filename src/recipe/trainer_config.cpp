// The trainer's config.yaml over a recipe. Unlike a recipe file it is not ours: what we do not know
// is named, not refused.
#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/feature_config.hpp"
#include "recipe/key_table.hpp"
#include "recipe/message.hpp"
#include "recipe/recipe_file.hpp"
#include "recipe/trainer_config.hpp"
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
  bool misplaced = false;   // a key of data: that stands at the top
  bool is_default = false;  // absent: what the trainer takes then
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

// A list of single values, as text.
std::vector<std::string> items_of(const YamlNode& node) {
  std::vector<std::string> texts;
  for (const YamlNode& item : node.items) {
    if (item.kind != Kind::kScalar) return {};
    texts.push_back(item.text);
  }
  return texts;
}

// Where the trainer sets no limit: 30 s at 22,050 Hz, and a long text.
constexpr std::uint32_t kManyFrames = 2600;
constexpr std::uint32_t kManyTokens = 4096;

class TrainerReader {
 public:
  TrainerReader(Env& env, std::string_view origin, std::optional<formats::Recipe> base)
      : files_{env, "."}, origin_(origin), base_(std::move(base)) {}

  Result<TrainerConfig> read(const YamlNode& root) {
    collect(root);
    TrainerConfig config;
    XTTS_TRY(choose_recipe(config.choices));
    XTTS_TRY(add_defaults());
    set_all();
    read_sound_switches();
    cut_as_the_trainer_does();
    if (problems_.empty()) finish_recipe();
    if (!problems_.empty()) return Status(StatusCode::kInvalidArgument, join_lines(problems_));
    config.recipe = recipe_;
    for (const Entry& entry : entries_) config.keys.push_back(key_of(entry));
    return config;
  }

 private:
  [[nodiscard]] TrainerKey key_of(const Entry& entry) const {
    TrainerKey key = describe_entry(entry);
    key.is_default = entry.is_default;
    if (entry.is_default) key.note = "absent, so the trainer's default; " + key.note;
    if (!is_unset(*entry.node)) {
      const bool is_text = entry.node->kind == Kind::kScalar;
      key.value = is_text ? entry.node->text : std::string(describe(*entry.node));
      key.items = items_of(*entry.node);
    }
    const TrainerRule* rule = find_trainer_rule(entry.name);
    if (rule == nullptr) return key;
    if (key.kind == KeyClass::kHonoured) key.recipe_key = rule->recipe_key;
    key.loader_note = rule->loader_note;
    key.about = rule->about;
    return key;
  }

  // Which recipe the keys are laid over: the one that was named, else the trainer's own.
  Status choose_recipe(std::vector<std::string>& choices) {
    is_native_ = read_switch("data.use_tf_native_loading").value_or(true);
    if (!base_) {
      const std::string name(is_native_ ? kNativeRecipe : kLibrosaRecipe);
      XTTS_ASSIGN(base_, load(files_.env, name));
      const bool is_given = find("data.use_tf_native_loading") != nullptr;
      const char* const by_default = is_given ? "" : ", by the trainer's default";
      const char* const otherwise = " (off, it trains on myxtts, which its inference uses)";
      choices.push_back(
          formatted("recipe {}: use_tf_native_loading is {}", name,
                    is_native_ ? formatted("on{}{}", std::string(by_default), otherwise) : "off"));
    }
    recipe_ = *base_;
    return {};
  }

  // A recipe of another model's keeps what the file does not say.
  [[nodiscard]] bool is_the_trainers() const {
    return base_->name == kNativeRecipe || base_->name == kLibrosaRecipe;
  }

  Status add_defaults() {
    for (const TrainerRule& rule : trainer_rules()) {
      if (rule.trainer_default.empty() || find(rule.name) != nullptr) continue;
      if (!rule.recipe_key.empty() && !is_the_trainers()) continue;
      XTTS_ASSIGN(YamlNode node, read_yaml(rule.trainer_default, rule.name));
      defaults_.push_back(std::move(node));
      entries_.push_back({rule.name, 0, &defaults_.back(), false, true});
    }
    return {};
  }

  // The trainer cuts at the end; a recipe would leave the clip out.
  void cut_as_the_trainer_does() {
    if (is_used("data.max_mel_frames")) {
      recipe_.features->too_long = formats::TooLong::kTruncate;
    } else if (is_the_trainers()) {
      // Nothing is cut, so nothing is padded before the features either. What is longer yet is
      // dropped, which a build tells of; packed records cost no more than what is in them.
      recipe_.features->max_frames = kManyFrames;
      recipe_.features->pad = formats::PadWhat::kFrames;
      recipe_.features->too_long = std::nullopt;
      recipe_.storage.layout = formats::Layout::kPacked;
    }
    if (is_the_trainers() && !sets_.contains("text.max_tokens"))
      recipe_.text.max_tokens = kManyTokens;
    // Its tokens are not those of the recipe, whose length is no reason to lose a clip.
    const bool makes_tokens = why_ignored(*find_key("text.too_long"), recipe_).empty();
    if (makes_tokens && (is_the_trainers() || sets_.contains("text.max_tokens")))
      recipe_.text.too_long = formats::LongText::kTruncate;
  }

  [[nodiscard]] bool is_used(std::string_view name) const {
    const Entry* entry = find(name);
    return entry != nullptr && !why_not_used(*entry);
  }

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
      problems_.push_back(
          std::string(origin_) +
          ": holds neither 'data:' nor 'model:', so it is not the trainer's config");
  }

  void collect_section(const YamlEntry& section) {
    if (section.value.kind == Kind::kNull) return;
    if (section.value.kind != Kind::kMap) {
      add_problem(section.line, formatted("{}: a section of keys, found {}", section.key,
                                          describe(section.value)));
      return;
    }
    for (const YamlEntry& item : section.value.entries) {
      const Entry entry{formatted("{}.{}", section.key, item.key), item.line, &item.value};
      const bool known = find_trainer_rule(entry.name) != nullptr;
      if (!known && section.key != "data") continue;
      if (const Entry* first = find(entry.name)) {
        add_problem(entry.line,
                    formatted("{}: given twice, first on line {}", entry.name, first->line));
      } else if (known && item.value.kind == Kind::kAlias) {
        add_problem(entry.line, entry.name + ": aliases are not read: write the value out");
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
    sample_rate_and_trim_follow(*base_, recipe_);
  }

  void set(const Entry& entry, const Key& key) {
    if (entry.node->kind != Kind::kScalar) {
      add_problem(entry.line, formatted("{}: takes {}, found {}", entry.name, key.takes,
                                        describe(*entry.node)));
      return;
    }
    Scalar value{entry.node->text, entry.node->quoted ? ScalarForm::kQuoted : ScalarForm::kPlain};
    // 22_050 is a number in YAML 1.1.
    if (key.is_number) std::erase(value.text, '_');
    if (entry.name == "data.speaker_id_pattern") value.text = without_group_names(value.text);
    const std::uint32_t tokens_before = recipe_.text.max_tokens;
    if (const std::string problem = key.set(recipe_, {value}, files_); !problem.empty()) {
      add_problem(entry.line, formatted("{}: {}", entry.name, problem));
    }
    // The trainer cuts at both limits, so the lower one holds.
    if (key.name == "text.max_tokens" && sets_.contains(key.name)) {
      recipe_.text.max_tokens = std::min<std::uint32_t>(recipe_.text.max_tokens, tokens_before);
    }
    sets_.emplace(key.name, &entry);
  }

  // Why a key that has a place in the recipe stays out of it.
  [[nodiscard]] std::optional<std::string> why_not_used(const Entry& entry) const {
    if (entry.misplaced)
      return "the trainer reads this key under data: only, so it does nothing here either";
    const bool is_switch =
        is_sound_switch(entry.name) || entry.name == "data.use_tf_native_loading";
    if (is_unset(*entry.node) && !is_switch) return "not set";
    if (is_limit(entry.name) && entry.node->text == "0") return "0: the trainer cuts nothing";
    if (entry.name == "data.max_text_length" && !pads_to_fixed_length())
      return "pads texts only where pad_to_fixed_length is on";
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

  static bool is_limit(std::string_view name) {
    return name == "data.max_mel_frames" || name == "data.max_text_tokens" ||
           name == "data.max_text_length";
  }

  [[nodiscard]] bool pads_to_fixed_length() const {
    const Entry* pads = find("data.pad_to_fixed_length");
    return pads != nullptr && yaml_1_1_switch(*pads->node).value_or(false);
  }

  // The recipe is that of native loading, whatever the file says.
  [[nodiscard]] bool makes_native() const { return base_->name == kNativeRecipe; }

  // Why the trainer does not come to a step that the key asks for.
  [[nodiscard]] std::optional<std::string> why_not_reached(const TrainerRule& rule,
                                                           const YamlNode& node) const {
    const bool of_sound = is_sound_switch(rule.name) || rule.name == "data.enable_vad" ||
                          rule.name == "data.enable_pitch_shift" ||
                          rule.name == "data.enable_noise_mixing";
    if (makes_native() && of_sound) return "with use_tf_native_loading the trainer does not do it";
    const std::uint32_t rate_hz = recipe_.features->sample_rate_hz;
    const bool silero_takes_it = rate_hz == 8000 || (rate_hz > 0 && rate_hz % 16000 == 0);
    if (rule.name == "data.enable_vad" && !silero_takes_it && asks_for_it(rule.when, node))
      return formatted("the trainer turns it off at {} Hz", rate_hz);
    return std::nullopt;
  }

  void read_sound_switches() {
    switches_.trim = read_switch("data.trim_silence");
    switches_.normalize = read_switch("data.normalize_audio");
    switches_.loudness = read_switch("data.enable_loudness_normalization");
    if (!makes_native()) apply_sound_switches(switches_, recipe_);
    if (const Entry* mode = find("data.preprocessing_mode");
        mode != nullptr && !is_unset(*mode->node)) {
      const std::string& text = mode->node->text;
      if (text != "auto" && text != "precompute" && text != "runtime") {
        add_problem(mode->line,
                    formatted("{}: '{}' is none of auto | precompute | runtime", mode->name, text));
      }
    }
  }

  std::optional<bool> read_switch(std::string_view name) {
    const Entry* entry = find(name);
    if (entry == nullptr) return std::nullopt;
    if (is_unset(*entry->node)) return false;  // as None is to Python
    const auto value = yaml_1_1_switch(*entry->node);
    if (!value)
      add_problem(entry->line,
                  formatted("{}: '{}' is neither true nor false", entry->name, entry->node->text));
    return value;
  }

  // A problem of the recipe is told by the trainer's own key where that key caused it.
  void finish_recipe() {
    reset_ignored(recipe_);
    for (const std::string& problem : problems_of(recipe_)) {
      const std::string first_key = problem.substr(0, problem.find_first_of(":,"));
      const auto cause = sets_.find(first_key);
      if (cause == sets_.end()) {
        problems_.push_back(formatted("{}: {}", origin_, problem));
      } else {
        add_problem(cause->second->line, formatted("{}: {}", cause->second->name, problem));
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
    if (entry.name == "data.use_tf_native_loading") return describe_native(entry);
    if (entry.name == "data.sample_rate" && makes_native() &&
        recipe_.features->sample_rate_hz != base_->features->sample_rate_hz)
      return {entry.name, KeyClass::kNotReproduced,
              "the trainer's native loading resamples along straight lines; here it is " +
                  recipe_.features->resampler};
    if (is_sound_switch(entry.name)) return describe_sound_switch(entry.name, switches_, recipe_);
    if (rule->kind == KeyClass::kHonoured)
      return {entry.name, rule->kind, describe_honoured(*rule)};
    const bool asked = rule->kind == KeyClass::kNoEffect || asks_for_it(rule->when, *entry.node);
    if (!asked) return {entry.name, KeyClass::kNoEffect, "asks for nothing"};
    return {entry.name, rule->kind, rule->note};
  }

  [[nodiscard]] TrainerKey describe_native(const Entry& entry) const {
    const std::string theirs(is_native_ ? kNativeRecipe : kLibrosaRecipe);
    if (base_->name == theirs) return {entry.name, KeyClass::kHonoured, "recipe " + theirs};
    if (!is_native_ && !makes_native())
      return {entry.name, KeyClass::kNoEffect, "asks for nothing"};
    return {entry.name, KeyClass::kNotReproduced,
            formatted("the trainer then trains on the features of {}; this cache holds those of "
                      "{}, which was asked for",
                      theirs, base_->name)};
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
    std::string note = formatted("{} = {}", key.name, key.print(recipe_).front());
    if (key.name == "features.sample_rate_hz" &&
        recipe_.features->mel.f_max_hz != base_->features->mel.f_max_hz) {
      note += formatted(", and features.mel.f_max_hz = {}, half of it",
                        Codec<double>::print(recipe_.features->mel.f_max_hz));
    } else if (key.name == "features.max_frames") {
      note += "; longer clips are cut, as the trainer cuts them";
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
    problems_.push_back(formatted("{}:{}: {}", origin_, line, problem));
  }

  FileAccess files_;
  std::string_view origin_;
  std::optional<formats::Recipe> base_;  // set once a recipe is chosen
  formats::Recipe recipe_;
  SoundSwitches switches_;
  bool is_native_ = true;          // use_tf_native_loading
  std::deque<YamlNode> defaults_;  // which entries point into
  std::vector<Entry> entries_;     // in the file's order; none is added after add_defaults()
  std::map<std::string, const Entry*> sets_;  // recipe key -> what set it first
  std::vector<std::string> problems_;
};

}  // namespace

Result<TrainerConfig> apply_trainer_config(Env& env, const std::string& path,
                                           std::optional<formats::Recipe> base) {
  XTTS_ASSIGN(const std::string yaml, read_text_file(env, path, kYamlBytesMax));
  XTTS_ASSIGN(const YamlNode root, read_yaml_map(yaml, path));
  return TrainerReader(env, path, std::move(base)).read(root);
}

void keep_list_of_data(Env& env, const std::string& data, TrainerConfig& config) {
  formats::CorpusConfig& corpus = config.recipe.corpus;
  if (corpus.metadata_train_file.empty() || corpus.metadata_eval_file.empty()) return;
  const auto is_there = [&](const std::string& list) { return env.stat(data + "/" + list).ok(); };
  const bool has_train = is_there(corpus.metadata_train_file);
  if (has_train == is_there(corpus.metadata_eval_file)) return;
  const std::string other = has_train ? corpus.metadata_eval_file : corpus.metadata_train_file;
  if (!has_train) {
    corpus.metadata_train_file = corpus.metadata_eval_file;
    corpus.wavs_train_folder = corpus.wavs_eval_folder;
  }
  corpus.metadata_eval_file.clear();
  corpus.wavs_eval_folder.clear();
  config.choices.push_back(
      formatted("list {}: {} is not in {}; the trainer's other folder has a cache of its own",
                corpus.metadata_train_file, other, data));
}

}  // namespace xtts::recipe
