// deep: do the sources still make these records? The code of the build computes each clip of the
// sample again. deep compares it with the shards: the rows, the length, the fill value, the facts.
// It compares bit for bit where the record's `numerics` are this machine's, else within the
// recipe's tolerance (compare.hpp).
//
// A source that is gone, has changed or cannot be read proves nothing: it becomes a note. deep
// skips damage that full found. Memory: the corpus, and a share of Sources::memory_bytes and one
// record a thread.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/manifest.hpp"
#include "reader/index_reader.hpp"
#include "verify/plan.hpp"
#include "verify/run.hpp"
#include "verify/sources.hpp"

namespace xtts::verify {

// Returns ascending positions. Empty only for a cache without clips.
[[nodiscard]] std::vector<std::uint64_t> sampled_positions(const std::vector<ClipPlan>& clips,
                                                           const Sample& sample);

// `plan` was loaded from a sound index. Failures: those of Recomputer. A cancelled run is not a
// failure.
[[nodiscard]] Status recompute_and_compare(Run& run, reader::IndexReader& index,
                                           const formats::Manifest& manifest, const Plan& plan,
                                           Report& report);

}  // namespace xtts::verify
