// What is asked of a build, as the command line and code write it -> BuildRequest. Reads the files
// that the options name (recipe, config, speakers, corpora.yaml) and nothing else; the calling
// thread. Failures: kInvalidArgument, kNotFound, kUnsupported.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "frontend/option_values.hpp"
#include "pipeline/build.hpp"
#include "recipe/recipe_file.hpp"
#include "xtts/builder.hpp"
#include "xtts/status.hpp"

namespace xtts::frontend {

// Who asks.
struct Asker {
  Spelling spelling = Spelling::kFields;
  // RunConfig::decoder_command. Not asked for where nothing is decoded.
  std::function<Result<std::vector<std::string>>()> decoder_command = {};
};

// Hears what the keys of the trainer's config have come to.
using HearTrainerConfig = std::function<void(const recipe::TrainerConfig& config)>;

// `options.program` is the business of Asker::decoder_command.
[[nodiscard]] Result<pipeline::BuildRequest> request_of(Env& env, const BuildOptions& options,
                                                        const Asker& asker,
                                                        const HearTrainerConfig& hear_config);

// Of `options`, what recipes are made of: recipe, config, settings and what is short for a setting.
[[nodiscard]] Result<formats::Recipe> recipe_of(Env& env, const BuildOptions& options,
                                                const HearTrainerConfig& hear_config);

// "data.augment is not reproduced: ...", a line for each key of the third class.
[[nodiscard]] std::vector<std::string> not_reproduced(const recipe::TrainerConfig& config);

}  // namespace xtts::frontend
