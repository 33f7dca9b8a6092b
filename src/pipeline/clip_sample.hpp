// A few of the clips to compute, chosen to represent all. The sample spreads over the kinds of
// files (by extension) and their sizes; within those, a seeded hash of the ids decides. Pure; the
// same corpus gives the same sample, in any order of its folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "corpus/corpus.hpp"

namespace xtts::pipeline {

struct ClipSample {
  std::vector<std::uint32_t> clips;  // places in the corpus; any first part of it is balanced, too
  // The kind of each of the given clips, 0 to kind_count - 1.
  std::vector<std::uint32_t> kinds;
  std::size_t kind_count = 0;
};

// Takes at most `count` of `places`, and no file larger than `bytes_max`.
[[nodiscard]] ClipSample sample_clips(const corpus::Corpus& corpus,
                                      std::span<const std::uint32_t> places, std::size_t count,
                                      std::uint64_t bytes_max);

}  // namespace xtts::pipeline
