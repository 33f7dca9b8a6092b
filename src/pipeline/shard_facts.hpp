// What a column's shard says of a clip, out of what the index says of it: the index merges the
// columns' facts and adds the warnings of the corpus section's rules. The same to the byte, unless
// the lists have changed since the shard was written (its speaker, its path): whoever makes facts
// again proves them by their check. Pure functions.
#pragma once

#include "formats/facts.hpp"

namespace xtts::pipeline {

[[nodiscard]] formats::RecordFacts facts_of_sound(formats::RecordFacts details);
// What the shards of a further column of sound say: whose record it is.
[[nodiscard]] formats::RecordFacts facts_beside(const formats::RecordFacts& details);
[[nodiscard]] formats::RecordFacts facts_of_text(const formats::RecordFacts& details);

}  // namespace xtts::pipeline
