// What is published, as a build plans it. Pure functions but for lost_shard(), which asks for the
// sizes of files.
#pragma once

#include <optional>
#include <string>

#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// The clip that a record was made of, as its lists told it.
[[nodiscard]] corpus::Clip clip_of(formats::RecordFacts facts);

// What is wrong with the first shard that is missing or has another size than the manifest says;
// nothing where there is none. Reads no byte of them. kResource: the system ran short.
[[nodiscard]] Result<std::optional<std::string>> lost_shard(Env& env, const std::string& cache,
                                                            const formats::Manifest& manifest);

}  // namespace xtts::pipeline
