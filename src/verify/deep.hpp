// deep: are the records what the sources make of them? Each clip of the sample is computed again,
// by the code of the build, and compared with what its shards hold: the rows, the length, the fill
// value, the facts. Bit for bit where the record's `numerics` are this machine's, else within the
// recipe's tolerance (compare.hpp).
//
// A source that is gone, has changed or cannot be read proves nothing: a note. What full found
// damaged is passed over. Memory: the corpus, and a share of Sources::memory_bytes and one record a
// thread.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/manifest.hpp"
#include "reader/index_reader.hpp"
#include "verify/plan.hpp"
#include "verify/run.hpp"
#include "verify/sources.hpp"

namespace xtts::verify {

// Positions, ascending. None only of a cache without clips.
[[nodiscard]] std::vector<std::uint64_t> sampled_positions(const std::vector<ClipPlan>& clips,
                                                           const Sample& sample);

// `plan` was loaded from a sound index. Failures: as Recomputer's; a cancelled run is none.
[[nodiscard]] Status recompute_and_compare(Run& run, reader::IndexReader& index,
                                           const formats::Manifest& manifest, const Plan& plan,
                                           Report& report);

}  // namespace xtts::verify
