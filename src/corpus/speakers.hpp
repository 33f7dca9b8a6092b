// Speakers: one name for all, or by a regular expression on the file name. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "corpus/corpus.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::corpus {

// Sets the speaker of each clip as the config says; where it says nothing, what the list said
// stays. Notes how many file names did not match. kInvalidArgument: a pattern that is none, or both
// a name and a pattern.
[[nodiscard]] Status apply_speakers(const formats::CorpusConfig& config, std::vector<Clip>& clips,
                                    std::vector<std::string>& notes);

}  // namespace xtts::corpus
