// What is asked of a build, as the command line and code write it -> BuildRequest. Reads the files
// that the options name (recipe, config, speakers, corpora.yaml) and nothing else; the calling
// thread. Failures: kInvalidArgument, kNotFound, kUnsupported.
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

// Who asks.
struct Asker {
  // RunConfig::make_decoder. Not asked for where nothing is decoded.
  std::function<Result<audio::MakeDecoder>()> make_decoder = {};
};

// Hears what the keys of the trainer's config have come to.
using HearTrainerConfig = std::function<void(const recipe::TrainerConfig& config)>;

// `options.program` is the business of Asker::make_decoder.
[[nodiscard]] Result<pipeline::BuildRequest> request_of(Env& env, const BuildOptions& options,
                                                        const Asker& asker,
                                                        const HearTrainerConfig& hear_config);

// Of `options`, what recipes are made of: recipe, config, settings and what is short for a setting.
[[nodiscard]] Result<formats::Recipe> recipe_of(Env& env, const BuildOptions& options,
                                                const HearTrainerConfig& hear_config);

// "data.augment is not reproduced: ...", a line for each key of the third class.
[[nodiscard]] std::vector<std::string> not_reproduced(const recipe::TrainerConfig& config);

}  // namespace xtts::request
