// --set KEY=VALUE and the check after the last of them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "recipe/key_table.hpp"
#include "recipe/message.hpp"
#include "recipe/recipe_file.hpp"

namespace xtts::recipe {
namespace {

Status refuse(std::string_view setting, const std::string& problem) {
  return {StatusCode::kInvalidArgument, formatted("{}: {}", option("set", setting), problem)};
}

// "n_mels", "mel.n_mels" and "features.mel.n_mels" are one key; a full name wins over the end of
// another.
std::vector<const Key*> keys_named(std::string_view name) {
  if (const Key* key = find_key(name)) return {key};
  std::vector<const Key*> found;
  const std::string ending = "." + std::string(name);
  for (const Key& key : key_table()) {
    if (key.name.ends_with(ending)) found.push_back(&key);
  }
  return found;
}

std::string name_all(const std::vector<const Key*>& keys) {
  std::string names;
  for (const Key* key : keys) names += (names.empty() ? "" : " or ") + key->name;
  return names;
}

// Without what stands around it, if both are there.
std::string_view inside(std::string_view text, char begin, char end) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const bool is_inside = text.size() >= 2 && text.front() == begin && text.back() == end;
  return is_inside ? text.substr(1, text.size() - 2) : text;
}

// A list is "a,b", or as YAML and JSON write it: "[a, b]", "[\"a\", \"b\"]".
std::vector<Scalar> split_values(std::string_view text, bool is_list) {
  std::vector<Scalar> values;
  if (!is_list) return {{std::string(text), ScalarForm::kArgument}};
  text = inside(text, '[', ']');
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view value = inside(text.substr(0, comma), '"', '"');
    values.push_back({std::string(value), ScalarForm::kArgument});
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return values;
}

// Only what is wrong with this one key: keys that contradict each other may be set one after the
// other.
std::string own_problem(const formats::Recipe& recipe, const Key& key) {
  for (const std::string& problem : problems_of(recipe)) {
    if (problem.starts_with(key.name + ": ")) return problem;
  }
  return {};
}

// True where other keys mean something by its value.
bool is_switch(std::string_view name) {
  const auto& table = key_table();
  return std::any_of(table.begin(), table.end(),
                     [&](const Key& key) { return key.applies_when.key == name; });
}

}  // namespace

Status apply_setting(Env& env, formats::Recipe& recipe, std::string_view key_equals_value) {
  const std::size_t equals = key_equals_value.find('=');
  if (equals == std::string_view::npos) return refuse(key_equals_value, "write KEY=VALUE");
  const std::string_view name = key_equals_value.substr(0, equals);
  const std::vector<const Key*> found = keys_named(name);
  if (found.empty()) return refuse(key_equals_value, "unknown key" + suggest_key(name));
  if (found.size() > 1)
    return refuse(key_equals_value, "several keys are called so: write one of " + name_all(found));
  const Key& key = *found.front();

  formats::Recipe changed = recipe;
  const FileAccess files{env, "."};
  const auto values = split_values(key_equals_value.substr(equals + 1), key.is_list);
  if (const std::string problem = key.set(changed, values, files); !problem.empty()) {
    return refuse(key_equals_value, formatted("{}: {}", key.name, problem));
  }
  if (const std::string reason = why_ignored(key, changed); !reason.empty()) {
    return refuse(key_equals_value, formatted("{}: ignored, because {}", key.name, reason));
  }
  reset_ignored(changed);
  if (const std::string problem = own_problem(changed, key); !problem.empty()) {
    return refuse(key_equals_value, problem);
  }
  recipe = std::move(changed);
  return {};
}

Status apply_settings(Env& env, formats::Recipe& recipe, const std::vector<std::string>& settings) {
  // A switch that another one turns on stands behind it in the table.
  const auto rank = [](const std::string& setting) {
    const std::vector<const Key*> found = keys_named(setting.substr(0, setting.find('=')));
    const bool is_first = found.size() == 1 && is_switch(found.front()->name);
    return is_first ? found.front() - key_table().data() : std::ssize(key_table());
  };
  std::vector<std::string> ordered = settings;
  std::ranges::stable_sort(ordered, {}, rank);
  for (const std::string& setting : ordered) XTTS_TRY(apply_setting(env, recipe, setting));
  return {};
}

Status check(const formats::Recipe& recipe) {
  const std::vector<std::string> problems = problems_of(recipe);
  if (problems.empty()) return {};
  return {StatusCode::kInvalidArgument, join_lines(problems)};
}

}  // namespace xtts::recipe
