// Speakers: one name for all clips, or a regular expression on file names. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "corpus/corpus.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::corpus {

// Sets the speaker of each clip as the config says; without a config, the list's speaker stays.
// Notes how many file names did not match. kInvalidArgument: an invalid pattern, or both a name
// and a pattern.
[[nodiscard]] Status apply_speakers(const formats::CorpusConfig& config, std::vector<Clip>& clips,
                                    std::vector<std::string>& notes);

}  // namespace xtts::corpus
