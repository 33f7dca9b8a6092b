// ChosenLengths: the room in a cache's records, and what it is worth for the corpus. Plain values.
#pragma once

#include <cstdint>

namespace xtts::pipeline {

// The frames, or the tokens, of a record.
struct ChosenLength {
  std::uint32_t number = 0;
  // Of clips whose length is known; all 0 where nothing was looked at (a number of the recipe or of
  // the cache).
  std::uint64_t clip_count = 0;
  std::uint64_t longer_count = 0;  // they do not fit
  std::uint32_t longest = 0;
  double padding_share = 0.0;  // of padded records; packed ones have no padding

  friend bool operator==(const ChosenLength&, const ChosenLength&) = default;
};

struct ChosenLengths {
  ChosenLength frames;
  ChosenLength tokens;
};

}  // namespace xtts::pipeline
