// Clips that are longer than a record may be, cut where their list says when something is said
// (features.too_long: split). README.md has the fields that tell it. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "corpus/corpus.hpp"

namespace xtts::corpus {

// Something that is said, in seconds from the first sample of the source.
struct TimedText {
  double start_s = 0.0;
  double end_s = 0.0;
  std::string text;
};

// Runs of `texts`, each from its first word to its last within `longest_s`; a text that is longer
// by itself stays alone. As few as that takes from the left, ended at the longest pause of the
// run's last third.
[[nodiscard]] std::vector<std::vector<TimedText>> runs_within(const std::vector<TimedText>& texts,
                                                              double longest_s);

// Each clip that lasts longer and has times becomes a clip for each run. Its own split, speaker and
// the fields that say nothing of times go to all of them.
void split_long_clips(double longest_s, std::vector<Clip>& clips, std::vector<std::string>& notes);

}  // namespace xtts::corpus
