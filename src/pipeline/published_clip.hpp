// Published clips and shards, in the form that a build plans with. Pure functions, except
// lost_shard(), which asks for the sizes of files.
#pragma once

#include <optional>
#include <string>

#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// The clip that a record was made of, as its lists stated it.
[[nodiscard]] corpus::Clip clip_of(formats::RecordFacts facts);

// Tells what is wrong with the first shard that is missing, or has another size than in the
// manifest; nothing if all are right. Reads no byte of them. kResource: the system ran short.
[[nodiscard]] Result<std::optional<std::string>> lost_shard(Env& env, const std::string& cache,
                                                            const formats::Manifest& manifest);

}  // namespace xtts::pipeline
