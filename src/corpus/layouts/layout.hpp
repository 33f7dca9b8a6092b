// A layout of corpora: how to see that a folder has it, and how to read clips from it. A new layout
// is one file with one `const Layout`, one line in layouts.cpp, and a test.
//
// What discover() does for every layout, so that none has to: the walk of DATA and its refusals,
// the stat of each source, speakers by pattern or by name, the language of the recipe, splits that
// the corpus does not have itself, the subset, canonical order, and the notes on missing texts and
// look-alike ids. Tables of constants; share freely.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "corpus/data_tree.hpp"
#include "corpus/list_bytes.hpp"
#include "formats/recipe.hpp"

namespace xtts::corpus {

// What was read beside audio, kept by whoever reads it (layout_parts.hpp).
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
  std::function<bool()> cancelled = {};  // as in DiscoveryBounds
};

struct Findings {
  // Ids unique; in any order. Sources still without size, time and inode; splits where the corpus
  // itself says.
  std::vector<Clip> clips;
  std::vector<Problem> problems;
  std::vector<std::string> notes;
  std::uint64_t ignored_file_count = 0;
  std::uint64_t held_bytes = 0;  // with those of other corpora; 0: nobody counted
};

// Why DATA looks like a layout, as the note that the user gets; nullopt: it does not. A failure: a
// file that would have said so cannot be read; nobody knows then what DATA is.
using Detected = Result<std::optional<std::string>>;

struct Layout {
  std::string_view name;
  std::string_view about;
  Detected (*detect)(const LayoutInput& input);
  // A failure is about the corpus as a whole: no list, nothing that the list names, no audio at
  // all.
  Result<Findings> (*read)(const LayoutInput& input);
};

// In the order in which they are tried; the last takes any folder.
[[nodiscard]] std::span<const Layout> layouts();

extern const Layout kKaldiLayout;
extern const Layout kLhotseLayout;
extern const Layout kLhotseCutsLayout;
extern const Layout kAudiofolderLayout;
extern const Layout kNemoTarLayout;
extern const Layout kNemoLayout;
extern const Layout kDeepSpeechLayout;
extern const Layout kLibriSpeechLayout;
extern const Layout kLibriTtsLayout;
extern const Layout kMlsLayout;
extern const Layout kAishell3Layout;
extern const Layout kCommonVoiceLayout;
extern const Layout kVctkLayout;
extern const Layout kAishell1Layout;
extern const Layout kCss10Layout;
extern const Layout kEsdLayout;
extern const Layout kOpenslrLayout;
extern const Layout kMailabsLayout;
extern const Layout kEmiliaLayout;
extern const Layout kLjspeechLayout;
extern const Layout kTableLayout;
extern const Layout kListLayout;
extern const Layout kHuggingFaceLayout;
extern const Layout kWebDatasetLayout;
extern const Layout kFolderLayout;

}  // namespace xtts::corpus
