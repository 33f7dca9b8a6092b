// Any bytes as a recipe, a setting, a trainer's config.yaml or a corpora.yaml: an error that says
// something, or a recipe that comes back from its own YAML; never a hang or a crash.
//
// The first byte chooses which of them; the rest is the text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/canonical_json.hpp"
#include "recipe/corpora_file.hpp"
#include "recipe/recipe_file.hpp"
#include "recipe/trainer_config.hpp"
#include "support/memory_env.hpp"

namespace {

using xtts::formats::Recipe;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string text_of(const Recipe& recipe) {
  using xtts::formats::dump_canonical;
  return dump_canonical(to_json(*recipe.features)) + dump_canonical(to_json(recipe.text)) +
         dump_canonical(to_json(recipe.corpus)) + dump_canonical(to_json(recipe.storage));
}

void check(xtts::Env& env, const Recipe& recipe) {
  const xtts::Status status = xtts::recipe::check(recipe);
  if (!status.ok()) {
    require(!status.message().empty());
    return;
  }
  const auto again = xtts::recipe::parse(env, xtts::recipe::to_yaml(recipe), "printed.yaml", "/in");
  require(again.ok() && text_of(*again) == text_of(recipe));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  xtts::testing::MemoryEnv env;
  env.add_file("/in/input.yaml", text);
  env.add_file("/in/vocabulary.txt", "a\nb\n");
  switch (data[0] % 4) {
    case 0: {
      const auto recipe = xtts::recipe::parse(env, text, "input.yaml", "/in");
      require(recipe.ok() || !recipe.status().message().empty());
      if (recipe.ok()) check(env, *recipe);
      break;
    }
    case 1: {
      Recipe recipe = *xtts::recipe::load(env, "myxtts");
      const xtts::Status status = xtts::recipe::apply_setting(env, recipe, text);
      require(status.ok() || !status.message().empty());
      if (status.ok()) check(env, recipe);
      break;
    }
    case 2: {
      const auto config = xtts::recipe::apply_trainer_config(env, "/in/input.yaml",
                                                             *xtts::recipe::load(env, "myxtts"));
      require(config.ok() || !config.status().message().empty());
      if (config.ok()) check(env, config->recipe);
      break;
    }
    default: {
      const auto corpora = xtts::recipe::load_corpora(env, "/in/input.yaml");
      require(corpora.ok() || !corpora.status().message().empty());
      break;
    }
  }
  return 0;
}
