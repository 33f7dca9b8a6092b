// A few of the clips to compute, chosen so that they stand for all: spread over the kinds of files
// (by extension) and their sizes, by a seeded hash of their ids within those. Pure; the same corpus
// gives the same sample, whatever the order of its folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "corpus/corpus.hpp"

namespace xtts::pipeline {

struct ClipSample {
  std::vector<std::uint32_t> clips;  // places in the corpus; every beginning of it is balanced, too
  // Beside the clips that were asked for: which of the kinds each is of, 0 to kind_count - 1.
  std::vector<std::uint32_t> kinds;
  std::size_t kind_count = 0;
};

// Of `places`, at most `count`. Files larger than `bytes_max` stand in no sample.
[[nodiscard]] ClipSample sample_clips(const corpus::Corpus& corpus,
                                      std::span<const std::uint32_t> places, std::size_t count,
                                      std::uint64_t bytes_max);

}  // namespace xtts::pipeline
