#include "recipe/key_table.hpp"

#include <algorithm>
#include <utility>

#include "base/formatted.hpp"
#include "base/utf8.hpp"
#include "formats/feature_members.hpp"
#include "formats/recipe_members.hpp"
#include "recipe/make_key.hpp"
#include "recipe/named_files.hpp"
#include "recipe/text_tables.hpp"

namespace xtts::recipe {
namespace {

using formats::Recipe;

template <typename At>
Key key_of(At at) {
  using Value = std::remove_cvref_t<decltype(at(std::declval<Recipe&>()))>;
  if constexpr (std::is_same_v<Value, std::vector<double>>) {
    Key key = list_key(at, "a list of numbers", Codec<double>::print, Codec<double>::read);
    key.is_number = true;
    return key;
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    return list_key(at, "a list of texts", Codec<std::string>::print, Codec<std::string>::read);
  } else if constexpr (std::is_same_v<Value, std::vector<formats::TextTable>>) {
    const auto name = [](const formats::TextTable& table) { return table.name; };
    return list_key(at, "a list of " + text_table_names(), name,
                    [](const Scalar& value, formats::TextTable& out) -> std::string {
                      auto table = text_table(value.text);
                      if (!table)
                        return formatted("'{}' is none of {}", value.text, text_table_names());
                      out = *std::move(table);
                      return {};
                    });
  } else {
    return scalar_key(at);
  }
}

// Spelled as one of several forms; they enter the recipe in one.
std::string set_vocabulary(Recipe& recipe, const std::vector<Scalar>& values, const FileAccess&) {
  auto characters = canonical_vocabulary(values.front().text);
  if (!characters.ok()) return characters.status().message();
  recipe.text.vocabulary = std::move(characters).value();
  return {};
}

std::string set_vocabulary_file(Recipe& recipe, const std::vector<Scalar>& values,
                                const FileAccess& files) {
  auto characters = read_vocabulary_file(files.env, files.folder, values.front().text);
  if (!characters.ok()) return characters.status().message();
  recipe.text.vocabulary = std::move(characters).value();
  return {};
}

std::string set_channels_file(Recipe& recipe, const std::vector<Scalar>& values,
                              const FileAccess& files) {
  auto numbers = read_channels_file(files.env, files.folder, values.front().text);
  if (!numbers.ok()) return numbers.status().message();
  recipe.features->normalize.channel_offsets = std::move(numbers->offsets);
  recipe.features->normalize.channel_scales = std::move(numbers->scales);
  return {};
}

// Makes a key of each member that a recipe may set.
class KeyMaker {
 public:
  std::vector<Key> keys;

  void add(std::string name, std::string_view about, const Condition& applies_when, auto at) {
    Key key = key_of(at);
    key.name = std::move(name);
    key.about = about;
    key.applies_when = applies_when;
    key.reset = [at](Recipe& recipe) {
      const Recipe defaults = default_recipe();
      at(recipe) = at(defaults);
    };
    keys.push_back(std::move(key));
  }

  void member(const auto& row, const std::string& name, auto at) {
    add(name, row.about, row.applies_when, at);
    if (name == "text.vocabulary") {
      keys.back().set = set_vocabulary;
      keys.push_back(file_key("text.vocabulary_file",
                              "a file of characters; they enter the recipe, not its path",
                              row.applies_when, set_vocabulary_file));
    } else if (name == "features.normalize.channel_scales") {
      keys.push_back(file_key("features.normalize.channels_file",
                              "a file with a line for each channel: SCALE, or OFFSET SCALE; the "
                              "numbers enter the recipe",
                              row.applies_when, set_channels_file));
    }
  }
  bool enters(const auto& row, const std::string&, auto) { return row.is_there == nullptr; }
};

void check_names(const Recipe& recipe, std::vector<std::string>& problems) {
  const auto is_name_character = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  const std::string& name = recipe.name;
  if (name.empty() || name.size() > 64 ||
      !std::all_of(name.begin(), name.end(), is_name_character)) {
    problems.emplace_back("name: 1 to 64 letters, digits, '-', '_' or '.'");
  }
  if (recipe.about.size() > 1024 || !is_utf8(recipe.about))
    problems.emplace_back("about: at most 1024 bytes of UTF-8");
  for (const std::string& fit : recipe.fits) {
    if (fit.size() > 1024 || !is_utf8(fit))
      problems.emplace_back("fits: at most 1024 bytes of UTF-8 each");
  }
}

}  // namespace

Recipe default_recipe() {
  Recipe recipe;
  recipe.features->max_frames = formats::RecordLength::of_corpus();
  recipe.text.max_tokens = formats::RecordLength::of_corpus();
  return recipe;
}

const std::vector<Key>& key_table() {
  static const std::vector<Key> table = [] {
    KeyMaker maker;
    maker.add(
        "name", "the name of the recipe", {}, [](auto& r) -> auto& { return r.name; });
    maker.add(
        "about", "one line for people", {}, [](auto& r) -> auto& { return r.about; });
    maker.add(
        "fits", "vocoders and models that take these features", {},
        [](auto& r) -> auto& { return r.fits; });
    visit_members(
        formats::kFeatureMembers, "features.", [](auto& r) -> auto& { return *r.features; }, maker);
    visit_members(
        formats::kTextMembers, "text.", [](auto& r) -> auto& { return r.text; }, maker);
    visit_members(
        formats::kCorpusMembers, "corpus.", [](auto& r) -> auto& { return r.corpus; }, maker);
    visit_members(
        formats::kStorageMembers, "storage.", [](auto& r) -> auto& { return r.storage; }, maker);
    return std::move(maker.keys);
  }();
  return table;
}

const Key* find_key(std::string_view name) {
  const auto& table = key_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Key& key) { return key.name == name; });
  return found == table.end() ? nullptr : &*found;
}

bool is_section(std::string_view name) {
  const auto& table = key_table();
  return std::any_of(table.begin(), table.end(), [&](const Key& key) {
    return key.name.size() > name.size() && key.name[name.size()] == '.' &&
           key.name.starts_with(name);
  });
}

std::string why_ignored(const Key& key, const Recipe& recipe) {
  const Condition& condition = key.applies_when;
  if (condition.key.empty()) return {};
  const Key& other = *find_key(condition.key);
  if (std::string reason = why_ignored(other, recipe); !reason.empty()) return reason;
  const std::string value = other.print(recipe).front();
  if (std::ranges::find(condition.values, value) != condition.values.end()) return {};
  return formatted("{} is {}", condition.key, value);
}

void reset_ignored(Recipe& recipe) {
  for (const Key& key : key_table()) {
    if (!why_ignored(key, recipe).empty()) key.reset(recipe);
  }
}

std::vector<std::string> problems_of(const Recipe& recipe) {
  std::vector<std::string> problems;
  check_names(recipe, problems);
  const auto add = [&](std::string_view section, const std::vector<std::string>& found) {
    for (const std::string& problem : found) problems.push_back(std::string(section) + problem);
  };
  add("features.", recipe.features->validate());
  add("text.", recipe.text.validate());
  add("corpus.", recipe.corpus.validate());
  add("storage.", recipe.storage.validate());
  return problems;
}

}  // namespace xtts::recipe
