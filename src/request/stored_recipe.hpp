// The recipe that a build takes from the cache in its place, where the caller names neither a
// recipe nor the trainer's configuration: the four sections of the manifest. `settings` change
// single keys of it. Reads the manifest, without a lock. Failures: kInvalidArgument (--overwrite
// of a cache whose manifest is lost), kResource, and those of settings.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/env.hpp"
#include "base/hash.hpp"
#include "dsp/isa.hpp"
#include "formats/recipe.hpp"
#include "xtts/builder.hpp"
#include "xtts/status.hpp"

namespace xtts::request {

struct StoredRecipe {
  formats::Recipe recipe;
  Digest index;  // of the generation that it was read from
};

// `change`: applies the settings of the caller. Without a cache, or with one that a build refuses
// to continue anyway: nothing.
[[nodiscard]] Result<std::optional<StoredRecipe>> stored_recipe(
    Env& env, const BuildOptions& options,
    const std::function<Status(formats::Recipe& recipe)>& change);

// The instruction set of a run: `best` is the cache's own where this processor has it, so that
// what is computed now has the numerics of what is there.
[[nodiscard]] dsp::Isa isa_for(Env& env, const std::string& cache, dsp::Isa asked);

}  // namespace xtts::request
