// The facts of a clip: what its lists and its text add to those of its sound for the index, and
// what of all that each column's shards say. The index merges the columns' facts and adds the
// warnings of the corpus section's rules. What is taken out of the index is the same to the byte,
// unless the lists have changed since the shard was written (its speaker, its path): whoever makes
// facts again proves them by their check. Pure functions.
#pragma once

#include <cstdint>

#include "corpus/corpus.hpp"
#include "formats/facts.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::pipeline {

void add_facts_of_lists(const corpus::Clip& clip, formats::RecordFacts& facts);
// What was found out about the text of `from` replaces that of `to`.
void take_text(const formats::RecordFacts& from, formats::RecordFacts& to);
// What columns are made from beside the sound: texts, speaker, language.
[[nodiscard]] bool is_said_otherwise(const corpus::Clip& clip,
                                     const formats::RecordFacts& published);

[[nodiscard]] formats::RecordFacts facts_of_sound(formats::RecordFacts details);
// What the shards of a further column of sound say: whose record it is.
[[nodiscard]] formats::RecordFacts facts_beside(const formats::RecordFacts& details);
[[nodiscard]] formats::RecordFacts facts_of_text(const formats::RecordFacts& details);

// Frames of a clip whose record in the first column has so many rows: a wave has samples, of which
// hop_samples are a frame; the last one's may be fewer.
[[nodiscard]] std::uint32_t frames_of_main_record(const formats::FeatureConfig& features,
                                                  std::uint32_t length);

}  // namespace xtts::pipeline
