// The facts of a clip: what its lists and its text add to the facts of its sound, and which facts
// each column's shards hold. The index merges the columns' facts and adds the warnings of the
// corpus section's rules.
//
// Facts taken out of the index are the same to the byte, unless the lists have changed since the
// shard was written (its speaker, its path). So code that makes facts again must prove them by
// their check. Pure functions.
#pragma once

#include <cstdint>

#include "corpus/clips/clip.hpp"
#include "formats/facts.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::pipeline {

void add_facts_of_lists(const corpus::Clip& clip, formats::RecordFacts& facts);
// Replaces what is known about the text in `to` by that in `from`.
void take_text(const formats::RecordFacts& from, formats::RecordFacts& to);
// Compares what columns are made from beside the sound: texts, speaker, language.
[[nodiscard]] bool differs_except_sound(const corpus::Clip& clip,
                                        const formats::RecordFacts& published);

[[nodiscard]] formats::RecordFacts facts_of_sound(formats::RecordFacts details);
// The facts in the shards of any further column of sound: only whose record it is.
[[nodiscard]] formats::RecordFacts facts_of_further_column(const formats::RecordFacts& details);
[[nodiscard]] formats::RecordFacts facts_of_text(const formats::RecordFacts& details);

// The frames of a clip whose first column has a record of `length` rows. A wave's rows are samples:
// hop_samples of them are a frame, and the last frame may have fewer.
[[nodiscard]] std::uint32_t frames_of_main_record(const formats::FeatureConfig& features,
                                                  std::uint32_t length);

}  // namespace xtts::pipeline
