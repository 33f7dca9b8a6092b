// Splits clips that are longer than a record may be, at times that their list gives
// (features.too_long: split). README.md lists the fields with such times. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "corpus/clips/clip.hpp"

namespace xtts::corpus {

// A spoken text with its times, in seconds from the first sample of the source.
struct TimedText {
  double start_s = 0.0;
  double end_s = 0.0;
  std::string text;
};

// Groups `texts` into runs, each at most `longest_s` from its first word to its last. A longer
// text stays alone. Each run takes as many texts as fit, from the left, then ends at the longest
// pause in its last third.
[[nodiscard]] std::vector<std::vector<TimedText>> runs_within(const std::vector<TimedText>& texts,
                                                              double longest_s);

// Splits each clip that is longer and has times into one clip a run. Each piece keeps the clip's
// split, speaker and the fields that hold no times.
void split_long_clips(double longest_s, std::vector<Clip>& clips, std::vector<std::string>& notes);

}  // namespace xtts::corpus
