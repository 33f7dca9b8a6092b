#include "doctor/trainer_fields.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "recipe/shipped.hpp"
#include "recipe/trainer_keys.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::doctor {
namespace {

using recipe::YamlEntry;
using recipe::YamlNode;

struct Table {
  std::vector<TrainerField> fields;
  std::map<std::string, std::string, std::less<>> homes;
};

std::string text_in(const YamlNode& map, std::string_view key) {
  const auto found = std::ranges::find(map.entries, key, &YamlEntry::key);
  return found == map.entries.end() ? std::string() : found->value.text;
}

TrainerField read_field(const std::string& name, const YamlNode& row) {
  static const std::map<std::string, FieldKind, std::less<>> kinds{
      {"int", FieldKind::kInt},   {"float", FieldKind::kFloat}, {"bool", FieldKind::kBool},
      {"text", FieldKind::kText}, {"list", FieldKind::kList},   {"map", FieldKind::kMap}};
  const std::string type = text_in(row, "type");
  const bool may_be_null = type.ends_with(" or null");
  return {.name = name,
          .kind = kinds.at(type.substr(0, type.find(' '))),
          .trainer_default = text_in(row, "default"),
          .null = may_be_null ? FieldNull::kMayBeNull : FieldNull::kNeeded,
          .use = text_in(row, "unread").empty() ? FieldUse::kUsed : FieldUse::kUnused};
}

Table read_table() {
  Table table;
  for (const recipe::ShippedTrainer& trainer : recipe::shipped_trainers()) {
    if (trainer.name != recipe::kLibrosaRecipe) continue;
    const auto root = recipe::read_yaml_map(trainer.keys, "keys.yaml");
    assert(root.ok());
    if (!root.ok()) continue;
    const auto notes = std::ranges::find(root->entries, "notes", &YamlEntry::key);
    for (const std::string& section : trainer_sections()) {
      const auto keys = std::ranges::find(root->entries, section, &YamlEntry::key);
      for (const YamlEntry& entry : keys->value.entries) {
        const std::string name = section + "." + entry.key;
        if (!text_in(entry.value, "type").empty()) {
          table.fields.push_back(read_field(name, entry.value));
        } else {
          const std::string home = text_in(entry.value, "home");
          const std::string shared = text_in(notes->value, home);
          table.homes[name] = shared.empty() ? home : shared;
        }
      }
    }
  }
  return table;
}

const Table& table() {
  static const Table read = read_table();
  return read;
}

}  // namespace

std::span<const TrainerField> trainer_fields() {
  return table().fields;
}

const TrainerField* find_trainer_field(std::string_view name) {
  const auto& fields = table().fields;
  const auto found = std::ranges::find(fields, name, &TrainerField::name);
  return found == fields.end() ? nullptr : &*found;
}

std::vector<std::string> trainer_sections() {
  return {"model", "data", "training"};
}

std::string_view home_of_foreign_key(std::string_view name) {
  const auto found = table().homes.find(name);
  return found == table().homes.end() ? std::string_view() : found->second;
}

}  // namespace xtts::doctor
