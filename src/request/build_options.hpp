// Turns a build's options, as the command line and code write them, into a BuildRequest. Reads
// only the files that the options name (recipe, config, speakers, corpora.yaml). Runs on the
// calling thread. Failures: kInvalidArgument, kNotFound, kUnsupported.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "formats/recipe_fwd.hpp"
#include "request/option_values.hpp"
#include "xtts/builder.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {
struct BuildRequest;
}

namespace xtts::recipe {
struct TrainerConfig;
}

namespace xtts::request {

// The caller of a request: a person or code.
struct Caller {
  // Makes RunConfig::make_decoder. Not called where nothing is decoded.
  std::function<Result<audio::MakeDecoder>()> make_decoder = {};
};

// Receives the result of reading the trainer's config, key by key.
using TrainerConfigCallback = std::function<void(const recipe::TrainerConfig& config)>;

// Ignores `options.program`: Caller::make_decoder uses it.
[[nodiscard]] Result<pipeline::BuildRequest> request_of(
    Env& env, const BuildOptions& options, const Caller& caller,
    const TrainerConfigCallback& on_trainer_config);

// Reads only the `options` that make a recipe: recipe, config, settings and the short forms of
// settings.
[[nodiscard]] Result<formats::Recipe> recipe_of(Env& env, const BuildOptions& options,
                                                const TrainerConfigCallback& on_trainer_config);

// Gives "data.augment is not reproduced: ...", a line for each key of the third class.
[[nodiscard]] std::vector<std::string> not_reproduced(const recipe::TrainerConfig& config);

}  // namespace xtts::request
