#include "recipe/trainer_keys.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "recipe/shipped.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::recipe {
namespace {

constexpr std::array<std::pair<std::string_view, KeyClass>, 3> kClasses{
    {{"honoured", KeyClass::kHonoured},
     {"no effect", KeyClass::kNoEffect},
     {"not reproduced", KeyClass::kNotReproduced}}};

const YamlNode* find_in(const YamlNode& map, std::string_view key) {
  const auto found = std::ranges::find(map.entries, key, &YamlEntry::key);
  return found == map.entries.end() ? nullptr : &found->value;
}

std::string text_in(const YamlNode& map, std::string_view key) {
  const YamlNode* value = find_in(map, key);
  return value == nullptr ? std::string() : value->text;
}

// A note is a text of its own, or the name of one that several keys share.
std::string note_of(const YamlNode& root, const YamlNode& row) {
  const std::string note = text_in(row, "note");
  const YamlNode* notes = find_in(root, "notes");
  const YamlNode* shared = notes == nullptr ? nullptr : find_in(*notes, note);
  return shared == nullptr ? note : shared->text;
}

Result<TrainerRule> read_rule(const YamlNode& root, const std::string& name, const YamlEntry& entry,
                              std::string_view origin) {
  const YamlNode& row = entry.value;
  TrainerRule rule{.name = name,
                   .recipe_key = text_in(row, "sets"),
                   .note = note_of(root, row),
                   .loader_note = text_in(row, "loader"),
                   .about = text_in(row, "about")};
  const std::string kind = text_in(row, "class");
  const auto known = std::ranges::find(kClasses, kind, [](const auto& one) { return one.first; });
  if (known == kClasses.end())
    return Status(StatusCode::kInvalidArgument,
                  formatted("{}:{}: '{}' is no class of a key", origin, entry.line, kind));
  rule.kind = known->second;
  if (find_in(row, "when") != nullptr) rule.when = When::kTrue;
  if (find_in(row, "assumed") != nullptr)
    rule.trainer_default = text_in(row, find_in(row, "made") != nullptr ? "made" : "default");
  return rule;
}

std::string_view shipped_keys() {
  for (const ShippedTrainer& trainer : shipped_trainers())
    if (trainer.name == kLibrosaRecipe) return trainer.keys;
  return {};
}

std::vector<TrainerRule> shipped_rules() {
  auto read = read_trainer_rules(shipped_keys(), "keys.yaml");
  assert(read.ok());
  return read.ok() ? std::move(*read) : std::vector<TrainerRule>();
}

}  // namespace

Result<std::vector<TrainerRule>> read_trainer_rules(std::string_view yaml,
                                                    std::string_view origin) {
  XTTS_ASSIGN(const YamlNode root, read_yaml_map(yaml, origin));
  std::vector<TrainerRule> rules;
  for (const std::string_view section : {"data", "model", "training"}) {
    const YamlNode* keys = find_in(root, section);
    if (keys == nullptr) continue;
    for (const YamlEntry& entry : keys->entries) {
      if (find_in(entry.value, "class") == nullptr) continue;
      XTTS_ASSIGN(TrainerRule rule,
                  read_rule(root, formatted("{}.{}", section, entry.key), entry, origin));
      rules.push_back(std::move(rule));
    }
  }
  return rules;
}

std::span<const TrainerRule> trainer_rules() {
  static const std::vector<TrainerRule> rules = shipped_rules();
  return rules;
}

const TrainerRule* find_trainer_rule(std::string_view name) {
  const auto rules = trainer_rules();
  const auto found = std::ranges::find(rules, name, &TrainerRule::name);
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace xtts::recipe
