// The input of a layout, and its findings. Plain values; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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

// Where DATA names a clip: a line of a list, or a file that is read for it alone.
struct ClipPlace {
  std::string_view list;
  std::optional<Split> split_of_list;
  std::uint64_t line = 0;  // 0: no list names it
  std::string_view file;   // its own audio or transcript, where no list names it
};

// Takes clips as they are found, in the order of the lists, so that a corpus need not be held in
// memory. Ids may repeat: the first clip with an id is the one that counts (id_twice.hpp).
class FoundClips {
 public:
  virtual ~FoundClips() = default;
  // A failure is kept for status(), and later clips are ignored.
  virtual void take(Clip clip, const ClipPlace& place) = 0;
  [[nodiscard]] virtual Status status() const = 0;
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
  // Set: receives clips in place of Findings::clips, from layouts that use ClipCollector.
  FoundClips* found_clips = nullptr;
};

struct Findings {
  // Ids are unique; the order is free. Sources have no size, time or inode yet. A split is set
  // only where the corpus itself gives it.
  std::vector<Clip> clips;
  std::vector<Reject> problems;
  std::vector<std::string> notes;
  std::uint64_t ignored_file_count = 0;
  bool is_stream = false;          // as in Corpus
  std::uint64_t passed_count = 0;  // clips that went to LayoutInput::found_clips
  std::uint64_t held_bytes = 0;    // includes other corpora; 0: not counted
};

}  // namespace xtts::corpus
