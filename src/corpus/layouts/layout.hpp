// A layout of corpora: how to see that a folder has it, and how to read clips from it. A new layout
// is one file with one `const Layout`, one line in layouts.cpp, and a test.
//
// What discover() does for every layout, so that none has to: the walk of DATA and its refusals,
// the stat of each source, speakers by pattern or by name, the language of the recipe, splits that
// the corpus does not have itself, the subset, canonical order, and the notes on missing texts and
// look-alike ids. Tables of constants; share freely.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "corpus/data_tree.hpp"
#include "formats/recipe.hpp"

namespace xtts::corpus {

struct LayoutInput {
  Env& env;
  const DataTree& tree;
  const formats::CorpusConfig& config;
};

struct FoundClip {
  Clip clip;                       // its source still without size, time and inode
  std::optional<Split> own_split;  // where the corpus itself says
};

struct Findings {
  std::vector<FoundClip> clips;  // ids unique; in any order
  std::vector<Problem> problems;
  std::vector<std::string> notes;
  std::uint64_t ignored_file_count = 0;
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
extern const Layout kAudiofolderLayout;
extern const Layout kNemoLayout;
extern const Layout kLibriSpeechLayout;
extern const Layout kLibriTtsLayout;
extern const Layout kMlsLayout;
extern const Layout kAishell3Layout;
extern const Layout kCommonVoiceLayout;
extern const Layout kVctkLayout;
extern const Layout kLjspeechLayout;
extern const Layout kTableLayout;
extern const Layout kListLayout;
extern const Layout kFolderLayout;

}  // namespace xtts::corpus
