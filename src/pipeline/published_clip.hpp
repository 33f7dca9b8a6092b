// Published clips and shards, in the form that a build plans with. Pure functions, except
// lost_shard(), which asks for the sizes of files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/env.hpp"
#include "corpus/clips/clip.hpp"
#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "formats/reject.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// The clip that a record was made of, as its lists stated it.
[[nodiscard]] corpus::Clip clip_of(formats::RecordFacts facts);

// True where the record's source had the clip's suffix: of headerless sound, it tells the codec.
[[nodiscard]] bool is_decoded_alike(const corpus::Clip& clip, const formats::RecordFacts& facts);

// Returns the value in sources.bin that tells whether a clip's reject still stands: a check of its
// line and of the part of the source that it judged. Never 0.
[[nodiscard]] std::uint64_t check_of(const formats::Reject& reject, const corpus::Clip& clip);

// True where the corpus of a published cache has texts: it has tokens, or a clip has a text.
[[nodiscard]] bool has_texts(const formats::Manifest& manifest,
                             std::span<const corpus::Clip> clips);

// Tells what is wrong with the first shard that is missing, or has another size than in the
// manifest; nothing if all are right. Reads no byte of them. kResource: the system ran short.
[[nodiscard]] Result<std::optional<std::string>> lost_shard(Env& env, const std::string& cache,
                                                            const formats::Manifest& manifest);

}  // namespace xtts::pipeline
