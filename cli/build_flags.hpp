// Options that build and plan have in common, and what both tell of the trainer's configuration.
#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"
#include "cli/command.hpp"
#include "xtts/builder.hpp"

namespace xtts::recipe {
struct TrainerConfig;
}

namespace xtts::cli {

// Flags that say how to read lists: each is short for a setting of the recipe.
struct ListFlags {
  std::string audio, id, text, normalized, speaker, language, split, start, end, encoding;
};
void add_list_flags(Command& command, ListFlags& lists);
[[nodiscard]] std::vector<std::string> settings_of(const ListFlags& lists);

// --recipe to --dtype: what is made of which corpus.
void add_recipe_options(Command& command, BuildOptions& options);
// --device to --max-dropped: the machine that makes it, and what may be lost.
void add_machine_options(Command& command, BuildOptions& options);

// Reports on the trainer's config: the recipe that it has chosen, and a line for each setting that
// is not reproduced.
void tell_trainer_keys(Context& context, const recipe::TrainerConfig& config);

}  // namespace xtts::cli
