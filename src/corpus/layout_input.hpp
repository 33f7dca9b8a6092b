// What a layout gets of DATA, and what it gives back. Plain values; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "corpus/data_tree.hpp"
#include "corpus/lists/byte_window.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::corpus {

// What was read beside audio; each function that reads a list or a transcript adds to it.
struct ReadLog {
  std::unordered_set<std::string> paths;  // lists and transcripts
  ListLog list;  // a list that ended early is a failure, whatever the layout made of it
};

struct LayoutInput {
  Env& env;
  const DataTree& tree;
  const formats::CorpusConfig& config;
  ReadLog* log = nullptr;
  // Of memory, for all that is kept of clips; and what clips of other corpora have of it.
  std::uint64_t clip_bytes_max = UINT64_MAX;
  std::uint64_t held_bytes = 0;
  std::function<bool()> cancelled = {};  // as in DiscoveryRequest
};

struct Findings {
  // Ids unique; in any order. Sources still without size, time and inode; splits where the corpus
  // itself says.
  std::vector<Clip> clips;
  std::vector<Reject> problems;
  std::vector<std::string> notes;
  std::uint64_t ignored_file_count = 0;
  std::uint64_t held_bytes = 0;  // with those of other corpora; 0: nobody counted
};

}  // namespace xtts::corpus
