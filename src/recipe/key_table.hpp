// The table of every key of a recipe, made of the tables of members (formats/member_table.hpp),
// with how each is printed and set. Parsing, --set, to_yaml and the suggestions in error messages
// all read this one table, so a key exists everywhere or nowhere. Immutable after its first use,
// share freely.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "formats/member_table.hpp"
#include "formats/recipe.hpp"
#include "recipe/key_codec.hpp"

namespace xtts::recipe {

// Where file names in values lead.
struct FileAccess {
  Env& env;
  std::string folder;
};

using formats::Condition;

struct Key {
  std::string name;        // "features.mel.n_mels"
  std::string_view about;  // the comment that to_yaml prints
  std::string takes;       // "a whole number", "mean | first"
  bool is_number = false;  // one, or a list of them
  bool is_list = false;
  bool is_printed = true;  // false: read only (text.vocabulary_file becomes text.vocabulary)
  Condition applies_when;
  std::function<std::vector<std::string>(const formats::Recipe&)> print;  // YAML scalars
  // Empty, or what is wrong with the values (one, unless is_list).
  std::function<std::string(formats::Recipe&, const std::vector<Scalar>&, const FileAccess&)> set;
  std::function<void(formats::Recipe&)> reset;  // to the default
};

// Returns the recipe of a file that says nothing: the defaults of the sections, and lengths of the
// corpus.
[[nodiscard]] formats::Recipe default_recipe();

[[nodiscard]] const std::vector<Key>& key_table();
[[nodiscard]] const Key* find_key(std::string_view name);
[[nodiscard]] bool is_section(std::string_view name);  // "features", "features.mel"

// "features.loudness.method is none", or empty where the key means something in this recipe.
[[nodiscard]] std::string why_ignored(const Key& key, const formats::Recipe& recipe);
// Keys without meaning go back to their defaults, so that equal features have one description and
// one fingerprint.
void reset_ignored(formats::Recipe& recipe);

// Every problem of all four sections: full key (or keys, the first one full), colon, problem.
[[nodiscard]] std::vector<std::string> problems_of(const formats::Recipe& recipe);

}  // namespace xtts::recipe
