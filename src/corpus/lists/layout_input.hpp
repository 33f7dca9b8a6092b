// The input of a layout, and its findings. Plain values; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/env.hpp"
#include "corpus/clips/clip.hpp"
#include "corpus/files/data_tree.hpp"
#include "corpus/lists/byte_window.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::corpus {

// Lists and transcripts that were read; each function that reads one adds it.
struct ReadLog {
  std::unordered_set<std::string> paths;  // lists and transcripts
  ListLog list;  // a list that ended early is a failure, whatever the layout made of it
};

struct LayoutInput {
  Env& env;
  const DataTree& tree;
  const formats::CorpusConfig& config;
  ReadLog* log = nullptr;
  // Memory limit for all that is kept of clips, and the part that other corpora's clips use.
  std::uint64_t clip_bytes_max = UINT64_MAX;
  std::uint64_t held_bytes = 0;
  std::function<bool()> cancelled = {};  // as in DiscoveryRequest
};

struct Findings {
  // Ids are unique; the order is free. Sources have no size, time or inode yet. A split is set
  // only where the corpus itself gives it.
  std::vector<Clip> clips;
  std::vector<Reject> problems;
  std::vector<std::string> notes;
  std::uint64_t ignored_file_count = 0;
  bool is_stream = false;        // as in Corpus
  std::uint64_t held_bytes = 0;  // includes other corpora; 0: not counted
};

}  // namespace xtts::corpus
